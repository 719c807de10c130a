import ArgumentParser

/// A command that takes a command line of another tool, and runs it as a durable job.
protocol FrontCommand: AsyncParsableCommand {
    static var tool: FrontTool { get }
    /// Words for an example in the help.
    static var example: String { get }

    var words: [String] { get set }
}

extension FrontCommand {
    static var configuration: CommandConfiguration {
        let name = tool.rawValue
        return CommandConfiguration(
            commandName: name,
            abstract: "Take a command line of \(name), and run it as a durable job.",
            discussion: """
                The words mean what they mean to \(name), such as transfer \(name) \(example). An option that has no \
                equivalent here ends the command with status 64 before anything starts, and the message names the \
                option and the reason. transfer(1) has the differences.

                alias \(name)='transfer \(name)' lets scripts and habits stay as they are.
                """)
    }

    /// Creates the command without a parser. The initialiser of all members would leave the words undefined.
    init(taking words: [String]) {
        self.init()
        self.words = words
    }

    func run() async throws { try await FrontRun(tool: Self.tool, words: words).run() }
}

/// The command `transfer curl`.
struct CurlCommand: FrontCommand {
    static let tool = FrontTool.curl
    static let example = "-fsSLO https://a.example/x.iso"

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The words that curl takes.", valueName: "words"))
    var words: [String] = []
}

/// The command `transfer wget`.
struct WgetCommand: FrontCommand {
    static let tool = FrontTool.wget
    static let example = "-c -P isos https://a.example/x.iso"

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The words that wget takes.", valueName: "words"))
    var words: [String] = []
}

/// The command `transfer aria2c`.
struct Aria2Command: FrontCommand {
    static let tool = FrontTool.aria2
    static let example = "-x8 -d isos https://a.example/x.iso"

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("The words that aria2c takes.", valueName: "words"))
    var words: [String] = []
}
