package irdma4j.cli;

import irdma4j.uapi.PciException;
import java.io.InputStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IFactory;
import picocli.CommandLine.ParameterException;

/** The {@code irdma} command. */
@Command(
    name = "irdma",
    mixinStandardHelpOptions = true,
    version = "irdma4j 0.1.0-SNAPSHOT",
    description = "A kernel-bypass driver for Intel E810 RDMA, and a simulator of the card.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      DemoCommand.class,
      DecodeCommand.class,
      RegsCommand.class,
      HmcCommand.class,
      ReplayCommand.class,
      RpingCommand.class,
      CmatoseCommand.class,
      PingpongCommand.class,
      PerfCommand.class,
      UdaddyCommand.class,
      DoctorCommand.class,
      BindCommand.class,
      UnbindCommand.class
    })
public final class Main {
  private static final int USAGE = 2;

  Main() {}

  /** Runs the command and ends the process with its status. */
  public static void main(String[] arguments) {
    System.exit(commandLine(System.in).execute(arguments));
  }

  /**
   * The command, ready to be executed; tests give it streams of their own.
   *
   * @param input what commands read that are told to read standard input
   */
  static CommandLine commandLine(InputStream input) {
    CommandLine command = new CommandLine(new Main(), factory(input));
    command.setCaseInsensitiveEnumValuesAllowed(true);
    command.setParameterExceptionHandler(Main::badUsage);
    command.setExecutionExceptionHandler(Main::failed);
    return command;
  }

  private static IFactory factory(InputStream input) {
    IFactory standard = CommandLine.defaultFactory();
    return new IFactory() {
      @Override
      public <K> K create(Class<K> type) throws Exception {
        return type == DecodeCommand.class
            ? type.cast(new DecodeCommand(input))
            : standard.create(type);
      }
    };
  }

  private static int badUsage(ParameterException error, String[] arguments) {
    error.getCommandLine().getErr().println("irdma: " + error.getMessage());
    return USAGE;
  }

  private static int failed(Exception error, CommandLine command, CommandLine.ParseResult parsed) {
    if (error instanceof UserError || error instanceof PciException) {
      command.getErr().println("irdma: " + error.getMessage());
      return USAGE;
    }
    if (error instanceof NotReady) {
      command.getErr().println("irdma: " + error.getMessage());
      return 1;
    }
    command.getErr().println("irdma: " + error);
    error.printStackTrace(command.getErr());
    return 1;
  }
}
