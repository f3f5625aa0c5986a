package irdma4j.driver;

import org.jspecify.annotations.Nullable;

/** What fails of several things that are all to be tried: the first, with the others. */
final class Failures {
  private @Nullable RuntimeException first;

  /** Closes something; a failure is noted. */
  void closing(AutoCloseable part) {
    try {
      part.close();
    } catch (RuntimeException e) {
      add(e);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  void add(RuntimeException failure) {
    RuntimeException noted = first;
    if (noted == null) {
      first = failure;
    } else {
      noted.addSuppressed(failure);
    }
  }

  /** The first failure, or null if there was none. */
  @Nullable RuntimeException first() {
    return first;
  }

  /** Throws the first failure if there was one. */
  void throwFirst() {
    RuntimeException noted = first;
    if (noted != null) {
      throw noted;
    }
  }
}
