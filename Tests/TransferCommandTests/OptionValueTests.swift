import ArgumentParser
import Testing
import TransferQueue
import TransferTestSupport

@testable import transfer

/// Values that an option does not accept: the option, the value and the accepted values are reported, and nothing is
/// begun.
@Suite struct OptionValueTests {
    private static let time = "a time above 0, at most 100 years, such as 500ms, 30s, 5m, 1h30m or 7d"
    private static let segments = "a whole number from 1 to 32, or auto"
    private static let perHost = "a whole number from 1 to 10000, or auto"

    /// Values by the options' names, and the accepted values in the message. The parser of a command line is slow: it
    /// gets the first value of each row, and the option's own function gets the other ones.
    struct Row: Sendable {
        let names: [String]
        let values: [String]
        let form: String
        var read: @Sendable (String) throws -> Void = { _ in }
    }

    static let refused: [Row] = [
        Row(
            names: [
                "--settle", "--keep-for", "--timeout", "--connect-timeout", "--max-time", "--deadline", "--older-than",
            ]
                + ["--on-finish-timeout", "--lease", "--keep"],
            values: ["0s", "0", "5x", "-1", "-5s", "", "1e3", "101y", "99999999d"], form: time
        ) { _ = try TimeSpan.read($0) },
        Row(
            names: ["--retry-delay", "--drain"], values: ["5x", "-1", "soon"],
            form: "a time from 0 on, at most 100 years, such as 500ms"
        ) { _ = try Delay.read($0) },
        Row(
            names: ["--retry"], values: ["-1", "x", "1000001", "1.5", "+1", "", "99999999999999999999"],
            form: "a whole number from 0 to 1000000"
        ) { _ = try WholeNumber.reader(0...1_000_000)($0) },
        Row(
            names: ["-j", "--concurrency"], values: ["0", "-1", "10001", "many"],
            form: "a whole number from 1 to 10000"
        ) { _ = try WholeNumber.reader(1...10_000)($0) },
        Row(names: ["--parallel"], values: ["65", "0", "auto"], form: "a whole number from 1 to 64") {
            _ = try WholeNumber.reader(1...64)($0)
        },
        Row(names: ["--segments"], values: ["99", "0", "33", "x", "-1", "Auto"], form: segments) {
            _ = try SegmentsArgument.read($0)
        },
        Row(names: ["--per-host"], values: ["0", "10001", "x", "-1"], form: perHost) {
            _ = try PerHostArgument.read($0)
        },
        Row(
            names: ["--limit-rate"], values: ["1X", "0", "-1", "", "0.1", "1 M", "1e6"],
            form: "bytes a second, above 0, such as 500K, 10M"
        ) { _ = try RateArgument.read($0) },
        Row(names: ["--chunk-size"], values: ["0", "5X", "-1"], form: "bytes, above 0, such as 512K, 64M") {
            _ = try ByteCountArgument.read($0)
        },
        Row(
            names: ["--max-failures"], values: ["-1%", "-1", "101%", "x", "%"],
            form: "a number of jobs from 0 on, or a share from 0% to 100%"
        ) { _ = try FailureBound.read($0) },
        Row(
            names: ["--checksum"], values: ["sha256:12"],
            form: "sha256 has 64 hexadecimal digits, found 2; it takes ALGORITHM:HEX"),
        Row(
            names: ["--checksum"], values: ["crc9:12", "x", ""],
            form: "it takes ALGORITHM:HEX, such as sha256: and 64 hexadecimal digits"
        ) { _ = try ChecksumArgument.read($0) },
        Row(
            names: ["--if-exists"], values: ["x", "Skip"],
            form: "it takes verify, update, overwrite, skip, rename or fail"
        ) { _ = try Choice<JobSpec.IfExists>.read($0) },
        Row(names: ["--collisions"], values: ["x"], form: "it takes rename, path or fail"),
        Row(names: ["--format"], values: ["xml"], form: "it takes urls, aria2, curl, csv, jsonl, json or metalink"),
        Row(names: ["--protocol"], values: ["ftps"], form: "it takes put, post, multipart, tus, resumable, "),
        Row(names: ["--integrity"], values: ["crc"], form: "it takes none, md5, sha256 or stored-sha256"),
        Row(names: ["--order"], values: ["largest"], form: "it takes oldest, newest or smallest"),
        Row(
            names: ["--then"], values: ["forget", "move ", "Keep"], form: "it takes keep, delete, or move and a folder"
        ) { _ = try ThenArgument.read($0) },
        Row(names: ["--progress"], values: ["x"], form: "Please provide one of 'auto', 'bar', 'plain' or 'none'"),
        Row(names: ["--on-finish"], values: [""], form: "it takes a program and its arguments"),
        Row(
            names: ["--include", "--exclude"], values: ["[a", "{a", "", "[z-a]"],
            form: "it takes a pattern such as '*.jpg'"
        ) { _ = try GlobArgument.read($0) },
        Row(
            names: ["--tags"], values: ["EU", "a,", "a b", ""], form: "it takes tags such as gpu,eu: 16 at most"
        ) { _ = try TagsArgument.read($0) },
        Row(
            names: ["--listen"], values: ["zz", "127.0.0.1:70000", ""],
            form: "is no address to listen at: 127.0.0.1:6800 or unix:/run/… is one"
        ) { _ = try ListenAddress($0) },
        Row(
            names: ["--metrics-file"], values: ["x.txt", ".prom"],
            form: "it takes the path of a file whose name ends in .prom"
        ) { _ = try MetricsPath.read($0) },
        Row(
            names: ["--method", "-X", "--request"], values: ["G T", ""],
            form: "it takes the name of a method, such as GET"
        ) { _ = try MethodArgument.text($0) },
        Row(
            names: ["--pinnedpubkey"], values: ["zz", "", "sha256//x"],
            form: "it takes sha256// and 44 characters of base 64"
        ) { _ = try PinsArgument.text($0) },
        Row(names: ["--host-key"], values: ["aa:bb", ""], form: "it takes SHA256: and 43 characters of base 64") {
            _ = try HostKeyArgument.text($0)
        },
        Row(
            names: ["--interface"], values: ["a b", "", "a/b", "averyveryverylongname"],
            form: "it takes the name of a network interface, such as eth0"
        ) { _ = try LinkArgument.text($0) },
        Row(
            names: ["--congestion"], values: ["", "a b", "averyveryverylongname"],
            form: "it takes auto, system, or the name of a congestion control, such as bbr"
        ) { _ = try CongestionArgument.read($0) },
        Row(names: ["--endpoint"], values: ["zz", ""], form: "it takes https://HOST or http://HOST") {
            _ = try EndpointArgument.text($0)
        },
        Row(
            names: ["--server"], values: ["h", "", "ftp://h"],
            form: "it takes the address of a service, such as http://"
        ) {
            _ = try ServiceAddress.text($0)
        },
        Row(
            names: ["--queue"], values: [""],
            form: "it takes a folder, the address of a service, or postgres://HOST/DATABASE"
        ) { _ = try QueueAddress.text($0) },
        Row(
            names: ["--mirror", "--to"], values: ["ftpp://h/x"],
            form: "http, https, s3, ftp, ftps and sftp are supported"),
        Row(
            names: ["--proxy"], values: ["foo://h"],
            form: "unsupported scheme \"foo\"; http, https, socks5 and socks5h are supported"),
        Row(
            names: [
                "-d", "--directory", "--state", "-o", "--output", "--report", "--checksums", "--config", "--netrc-file",
                "--known-hosts", "--ssh-config", "--ssh-key", "--cacert", "--cert", "--key",
            ],
            values: [""], form: "it takes the path of a file or a folder, such as ./out"
        ) { _ = try PathArgument.text($0) },
        Row(names: ["-i", "--input-file"], values: ["http://h/x"], form: "-i takes a file with URLs"),
        Row(names: ["-o", "--output"], values: ["{nme}"], form: "{name}"),
        Row(
            names: ["-A", "--user-agent", "-e", "--referer"], values: ["a\nb"],
            form: "cannot hold line breaks or other control characters"),
    ]

    /// Values that must not be repeated, as every user of the machine may see a program's output.
    static let secret: [(names: [String], value: String, form: String)] = [
        (
            ["--password", "--proxy-password", "--key-passphrase", "--ssh-key-passphrase", "--queue-key"], "s3cret",
            "'$VARIABLE' or '@FILE'"
        ),
        (["-u", "--user"], "me:s3cret", "--user is a name alone; --password '$VARIABLE' or '@FILE' is the rest"),
        (["-H", "--header"], "Authorization: s3cret", "write 'Authorization: $VARIABLE'"),
        (["-b", "--cookie", "--load-cookies"], "a=s3cret", "name a file of cookies, or write --cookie '$VARIABLE'"),
        (["--server"], "http://me:s3cret@h", "--server goes without a password in the address"),
        (["--queue"], "http://me:s3cret@h", "--queue goes without a password in the address"),
        (["--queue"], "postgres://me:s3cret@h/db", "the queue's address has a password"),
        (["--on-finish"], "'s3cret x'", "write words with blanks as a JSON array"),
    ]

    /// Options that accept any text, or whose value is checked when it is opened.
    static let anything: Set<String> = [
        "--name", "--location", "--region", "--profile", "--data", "--destination", "--proxy-user", "--noproxy",
        "--allow-secret",
    ]

    /// Returns a valid command line with these words inserted.
    private static func line(_ command: String, with words: [String]) -> [String] {
        let rest: [String: [String]] = [
            "get": ["http://a.example/x"], "put": ["f", "http://a.example/x"], "run": ["jobs.json"], "verify": ["f"],
            "watch": ["/", "--to", "http://a.example/"], "validate": ["jobs.json"],
            "work": ["--queue", "postgres://h.example/db"],
        ]
        var others = rest[command] ?? []
        if words.contains(where: { $0.hasPrefix("--to") }) { others = ["/"] }
        if words.contains("--proxy-password") { others += ["--proxy", "http://h", "--proxy-user", "me"] }
        if words.contains("--ssh-key-passphrase") { others += ["--ssh-key", "k"] }
        return [command] + words + others
    }

    /// The options of each command; the one with the slowest parser comes last.
    private static let known: [(command: String, options: KnownOptions)] = Transfer.configuration.subcommands
        .map { ($0._commandName, KnownOptions(of: $0)) }.sorted { $1.0 == "watch" && $0.0 != "watch" }

    /// Returns a command that has an option.
    private static func having(_ option: String) throws -> String {
        try #require(known.first { $0.options.takesValue[option] == true }?.command, "no command has \(option)")
    }

    /// - Returns: The message and the exit status; `nil` where the command line is accepted.
    private static func answer(_ words: [String]) throws -> (text: String, status: Int32)? {
        do {
            let arguments = CommandArguments.normalized(words)
            _ = try Transfer.command(arguments)
            return nil
        } catch let failure as Failure {
            return (failure.message, failure.status.rawValue)
        } catch let answer as ParserAnswer {
            return (Transfer.fullMessage(for: answer.error), answer.code.rawValue)
        } catch {
            return (Transfer.fullMessage(for: error), Transfer.exitCode(for: error).rawValue)
        }
    }

    /// - Returns: The message about a value, as one word with the option or as the next word.
    private static func refusal(_ name: String, _ value: String, isJoined: Bool = false) throws -> String {
        let words = isJoined ? ["\(name)=\(value)"] : [name, value]
        let line = line(try having(name), with: words)
        let answer = try #require(try answer(line), "\(line) is taken")
        #expect(answer.status == 64, "\(line): \(answer)")
        return answer.text
    }

    @Test(arguments: refused.indices) func theOptionTheValueAndTheAcceptedValuesAreReported(_ index: Int) throws {
        let row = Self.refused[index]
        let value = row.values[0]
        for (index, name) in row.names.enumerated() {
            let text = try Self.refusal(name, value, isJoined: index % 2 == 1)
            #expect(text.contains(row.form), "\(name): \(text)")
            #expect(text.contains("'\(name)") || row.names.contains { text.contains($0) }, "\(name): \(text)")
            let isReportedInPart = value.contains("\n") || name == "--proxy"
            #expect(isReportedInPart || text.contains(value), "\(name): \(text)")
        }
        for value in row.values.dropFirst() {
            #expect("\(value) is taken") {
                try row.read(value)
            } throws: { error in
                "\(error)".contains(row.form)
            }
        }
    }

    @Test func anEmptyValueBehindAnEqualsSignTakesNoOtherWord() {
        let words = ["get", "--proxy=", "http://h/x?a=", "--data=a=", "--", "--name="]
        #expect(
            CommandArguments.normalized(words) == [
                "get", "--proxy", "", "http://h/x?a=", "--data=a=", "--", "--name=",
            ])
    }

    @Test(arguments: secret.indices) func aSecretIsNotRepeated(_ index: Int) throws {
        let row = Self.secret[index]
        for name in row.names {
            let text = try Self.refusal(name, row.value)
            #expect(text.contains(row.form) && !text.contains("s3cret"), "\(name): \(text)")
        }
    }

    /// A new option has a row above, or is known to accept any value.
    @Test func everyOptionThatTakesAValueIsInATable() {
        let listed = Set(Self.refused.flatMap(\.names) + Self.secret.flatMap(\.names)).union(Self.anything)
        let known = Set(Self.known.flatMap { $0.options.takesValue.filter(\.value).map(\.key) })
        #expect(known.subtracting(listed).sorted() == [], "without a row")
        #expect(listed.subtracting(known).sorted() == [], "without an option")
        #expect(Self.anything.isDisjoint(with: Self.refused.flatMap(\.names)))
    }

    /// The bounds themselves are accepted, in every spelling.
    @Test(
        arguments: [
            [
                "--retry", "0", "-j8", "--segments", "32", "--per-host", "auto", "--limit-rate", "1.5G", "--timeout",
                "250ms",
            ],
            [
                "--retry=1000000", "-j", "1", "--segments=auto", "--retry-delay", "0", "--max-time", "1h30m",
                "--json=progress",
            ],
            [
                "-j10000", "--checksum", "sha-1=" + String(repeating: "0a", count: 20), "-X", "PROPFIND", "--interface",
                "wwan*",
            ],
            ["--metrics-file", "x.prom", "--connect-timeout", "0.5"],
        ]) func validValuesAreAccepted(_ words: [String]) throws
    {
        let line = Self.line("get", with: words)
        #expect(try Self.answer(line) == nil, "\(line)")
    }

    /// The arguments are flags with `=`.
    @Test(
        arguments: [
            (
                "get --json=foo",
                "The value 'foo' is invalid for '--json': it takes none, or progress (--json=progress adds"
            ),
            ("watch --json=all", "it takes none, or progress"),
            ("status --json=foo", "The value 'foo' is invalid for '--json': it takes no value"),
            ("status --json=progress", "it takes no value here; get, put, copy, run and watch report progress"),
            ("run --strict=yes", "The value 'yes' is invalid for '--strict': it takes no value"),
        ]) func aFlagTakesNoValue(_ line: String, _ message: String) throws
    {
        let words = line.split(separator: " ").map(String.init)
        let answer = try #require(try Self.answer(Self.line(words[0], with: Array(words.dropFirst()))))
        #expect(answer.status == 64 && answer.text.contains(message), "\(answer)")
    }

    /// A variable is reported as the option that it stands for.
    @Test(
        arguments: [
            ("TRANSFER_TIMEOUT", "0", time), ("TRANSFER_CONNECT_TIMEOUT", "5x", time), ("TRANSFER_MAX_TIME", "x", time),
            ("TRANSFER_RETRY", "-1", "a whole number from 0 to 1000000"),
            ("TRANSFER_RETRY_DELAY", "x", "a time from 0 on"),
            ("TRANSFER_CONCURRENCY", "0", "a whole number from 1 to 10000"), ("TRANSFER_PER_HOST", "0", perHost),
            ("TRANSFER_LIMIT_RATE", "fast", "bytes a second, above 0"),
        ]) func aVariableIsRefusedAsItsOptionIs(_ variable: String, _ value: String, _ form: String) async throws
    {
        let place = try Workplace()
        var command = place.command(["get", "http://127.0.0.1:9/x", "--no-config"])
        command.environment[variable] = value
        let result = try await command.run()
        #expect(result.exitCode == 64, "\(result)")
        #expect(
            result.standardError.contains("The value '\(value)' is invalid for \(variable): it takes \(form)"),
            "\(result)")
    }
}
