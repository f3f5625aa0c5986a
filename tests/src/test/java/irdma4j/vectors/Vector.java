package irdma4j.vectors;

/**
 * One case of a vector file.
 *
 * @param id its name, unique in its file
 * @param function the function of the real code that was called
 * @param in what it was called with
 * @param out what it did
 */
public record Vector(String id, String function, Json in, Json out) {
  /** The last part of the id, which says what kind of case it is. */
  public String tag() {
    return id.substring(id.lastIndexOf('/') + 1);
  }

  /** Whether its inputs are wider than the hardware's fields. */
  public boolean isOver() {
    return tag().startsWith("over-");
  }
}
