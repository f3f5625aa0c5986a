package irdma4j.cli;

import java.nio.file.Files;
import java.nio.file.Path;

/** A file that an option names and the command will write. */
final class OutputFile {
  private OutputFile() {}

  /** Refuses what can't be written, before anything is done. */
  static void check(String option, Path path) {
    Path parent = path.toAbsolutePath().getParent();
    if (Files.isDirectory(path)) {
      throw new UserError(option + " " + path + ": that is a folder");
    }
    if (parent == null || !Files.isDirectory(parent)) {
      throw new UserError(option + " " + path + ": its folder does not exist");
    }
    if (!Files.isWritable(Files.exists(path) ? path : parent)) {
      throw new UserError(option + " " + path + ": not writable");
    }
  }
}
