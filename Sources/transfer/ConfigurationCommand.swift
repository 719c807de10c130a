import ArgumentParser
import Glibc
import TransferCore
import TransferQueue

struct ConfigurationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract:
            "Show the values that apply to transfers, and the file that sets each of them.",
        discussion: """
            Each value is shown with the place that it comes from: the configuration files, the TRANSFER_ variables, \
            the proxies of the environment, or the program itself. With a URL, the values that apply to its jobs are \
            shown. Values of options, job files and jobs take precedence.
            """)

    @Argument(help: ArgumentHelp("The URL of a job.", valueName: "url"))
    var url: String?

    @Flag(help: "Write JSON to standard output.")
    var json = false

    @OptionGroup var files: ConfigurationOptions

    func run() throws {
        let url = try url.map { try LoginArguments.withoutUser(URLArgument.completed($0)).url }
        if let url, !JobSpec.isSupported(url: url) { throw ValidationError(JobSpec.refusal(of: url)) }
        var looked: [(path: String, isThere: Bool)] = []
        var read: [ConfigurationFile] = []
        for source in files.sources {
            let file = try source.load()
            looked.append((source.path, file != nil))
            if let file { read.append(file) }
        }
        let configuration = Configuration(read)
        let variables = try EnvironmentRules.variables()
        let proxies = ProxyVariables(environment: Composition.environment)
        let entries =
            try url.map { url in
                // Contradictory settings are reported here too.
                var rules = RequestRules()
                rules.configuration = configuration
                _ = try rules.start(for: [url])
                return configuration.entries(for: url, variables, proxies: proxies)
            } ?? configuration.entries(variables, proxies: proxies)
        if json {
            print(Self.json(entries, looked, url: url))
        } else {
            let terminal = Terminal(STDOUT_FILENO, environment: Composition.environment)
            for line in Self.lines(entries, looked, terminal) { print(line) }
        }
    }

    private static func lines(
        _ entries: [ConfigurationEntry], _ looked: [(path: String, isThere: Bool)], _ terminal: Terminal
    ) -> [String] {
        let charset = terminal.charset
        var table = TextTable(("KEY", .left), ("VALUE", .left), ("FROM", .left))
        // Settings that a file or variable changes come first.
        let isSet = { (entry: ConfigurationEntry) in entry.place != .builtIn }
        for entry in entries.filter(isSet) + entries.filter({ !isSet($0) }) {
            table.add([entry.key, entry.shown, "\(entry.place)"].map { charset.visible($0) })
        }
        let files = looked.map { charset.visible("\($0.isThere ? "read:     " : "not there:") \($0.path)") }
        return (files.isEmpty ? ["no file is read (--no-config)"] : files) + [""]
            + table.lines(width: terminal.tableWidth)
    }

    /// Returns one object: `files` (`path`, `read`), `url`, `values` (`key`, `value`, `from`, `line`, `column`).
    private static func json(
        _ entries: [ConfigurationEntry], _ looked: [(path: String, isThere: Bool)], url: String?
    ) -> String {
        JSONObject.text { object in
            object.objects("files", looked) { object, file in
                object.field("path", file.path)
                object.field("read", file.isThere)
            }
            object.optional("url", url.map(Redaction.url))
            object.objects("values", entries) { object, entry in
                object.field("key", entry.key)
                object.field("value", json: entry.shown)
                object.field("from", entry.place.file)
                guard entry.place.line > 0 else { return }
                object.field("line", entry.place.line)
                object.field("column", entry.place.column)
            }
        }
    }
}
