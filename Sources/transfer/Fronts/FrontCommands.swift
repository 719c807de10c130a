import ArgumentParser

/// The command `transfer curl`: a command line of curl, as a durable job.
struct CurlCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "curl",
        abstract: "Take a command line of curl, and run it as a durable job.",
        discussion: FrontHelp.text("curl", example: "-fsSLO https://a.example/x.iso"))

    @Argument(
        parsing: .captureForPassthrough, help: ArgumentHelp("The words that curl takes.", valueName: "words"))
    var words: [String] = []

    func run() async throws { try await FrontRun(tool: .curl, words: words).run() }
}

/// The command `transfer wget`: a command line of wget, as a durable job.
struct WgetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wget",
        abstract: "Take a command line of wget, and run it as a durable job.",
        discussion: FrontHelp.text("wget", example: "-c -P isos https://a.example/x.iso"))

    @Argument(
        parsing: .captureForPassthrough, help: ArgumentHelp("The words that wget takes.", valueName: "words"))
    var words: [String] = []

    func run() async throws { try await FrontRun(tool: .wget, words: words).run() }
}

/// The command `transfer aria2c`: a command line of aria2c, as a durable job.
struct Aria2Command: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "aria2c",
        abstract: "Take a command line of aria2c, and run it as a durable job.",
        discussion: FrontHelp.text("aria2c", example: "-x8 -d isos https://a.example/x.iso"))

    @Argument(
        parsing: .captureForPassthrough, help: ArgumentHelp("The words that aria2c takes.", valueName: "words"))
    var words: [String] = []

    func run() async throws { try await FrontRun(tool: .aria2, words: words).run() }
}

private enum FrontHelp {
    static func text(_ tool: String, example: String) -> String {
        """
        The words mean what they mean to \(tool), such as transfer \(tool) \(example). An option that has no equivalent \
        here ends the command with status 64 before anything starts, and the message names the option and the reason. \
        transfer(1) has the differences.

        alias \(tool)='transfer \(tool)' lets scripts and habits stay as they are.
        """
    }
}
