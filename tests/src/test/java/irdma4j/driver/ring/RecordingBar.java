package irdma4j.driver.ring;

import irdma4j.uapi.Bar;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A BAR that keeps what is done to it. Every register reads the same. */
public final class RecordingBar implements Bar {
  /** An access of 32 bits. */
  public record Access(boolean write, long offset, int value) {}

  private final List<Access> accesses = new ArrayList<>();
  private Consumer<Access> onWrite = access -> {};
  private int answer;

  /** What registers read. */
  public void answer(int value) {
    answer = value;
  }

  /** What is to happen at each write. */
  public void onWrite(Consumer<Access> action) {
    onWrite = action;
  }

  /** The accesses since the last call. */
  public List<Access> take() {
    List<Access> taken = List.copyOf(accesses);
    accesses.clear();
    return taken;
  }

  @Override
  public int index() {
    return 0;
  }

  @Override
  public long size() {
    return 1 << 24;
  }

  @Override
  public int read32(long offset) {
    accesses.add(new Access(false, offset, answer));
    return answer;
  }

  @Override
  public void write32(long offset, int value) {
    Access access = new Access(true, offset, value);
    accesses.add(access);
    onWrite.accept(access);
  }

  @Override
  public long read64(long offset) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void write64(long offset, long value) {
    throw new UnsupportedOperationException();
  }
}
