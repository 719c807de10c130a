import ArgumentParser
import Testing
import TransferQueue
import TransferTestSupport

@testable import transfer

/// A value that an option doesn't take: the option, the value and what is taken are told, and nothing is begun.
@Suite struct OptionValueTests {
    private static let time = "a time above 0, at most 100 years, such as 500ms, 30s, 5m, 1h30m or 7d"
    private static let segments = "a whole number from 1 to 32, or auto"
    private static let perHost = "a whole number from 1 to 10000, or auto"

    /// Values by the options' names, and what is said to be taken.
    static let refused: [(names: [String], values: [String], form: String)] = [
        (
            ["--settle", "--keep-for", "--timeout", "--connect-timeout", "--max-time", "--deadline", "--older-than"]
                + ["--on-finish-timeout"], ["0s", "0", "5x", "-1", "-5s", "", "1e3", "101y", "99999999d"], time
        ),
        (["--retry-delay"], ["5x", "-1", "soon"], "a time from 0 on, at most 100 years, such as 500ms"),
        (
            ["--retry"], ["-1", "x", "1000001", "1.5", "+1", "", "99999999999999999999"],
            "a whole number from 0 to 1000000"
        ),
        (["-j", "--concurrency"], ["0", "-1", "10001", "many"], "a whole number from 1 to 10000"),
        (["--parallel"], ["0", "65", "auto"], "a whole number from 1 to 64"),
        (["--segments"], ["0", "33", "99", "x", "-1", "Auto"], segments),
        (["--per-host"], ["0", "10001", "x", "-1"], perHost),
        (["--limit-rate"], ["1X", "0", "-1", "", "0.1", "1 M", "1e6"], "bytes a second, above 0, such as 500K, 10M"),
        (["--chunk-size"], ["0", "5X", "-1"], "bytes, above 0, such as 512K, 64M"),
        (
            ["--max-failures"], ["-1", "101%", "-1%", "x", "%"],
            "a number of jobs from 0 on, or a share from 0% to 100%"
        ),
        (["--checksum"], ["sha256:12"], "sha256 has 64 hexadecimal digits, found 2; it takes ALGORITHM:HEX"),
        (["--checksum"], ["crc9:12", "x", ""], "it takes ALGORITHM:HEX, such as sha256: and 64 hexadecimal digits"),
        (["--if-exists"], ["x", "Skip"], "it takes verify, update, overwrite, skip, rename or fail"),
        (["--collisions"], ["x"], "it takes rename, path or fail"),
        (["--format"], ["xml"], "it takes urls, aria2, curl, csv, jsonl, json or metalink"),
        (["--protocol"], ["ftps"], "it takes put, post, multipart, tus, resumable, "),
        (["--integrity"], ["crc"], "it takes none, md5, sha256 or stored-sha256"),
        (["--order"], ["largest"], "it takes oldest, newest or smallest"),
        (["--then"], ["forget", "move ", "Keep"], "it takes keep, delete, or move and a folder"),
        (["--progress"], ["x"], "Please provide one of 'auto', 'bar', 'plain' or 'none'"),
        (["--on-finish"], [""], "it takes a program and its arguments"),
        (["--include", "--exclude"], ["[a", "{a", "", "[z-a]"], "it takes a pattern such as '*.jpg'"),
        (["--metrics-file"], ["x.txt", ".prom"], "it takes the path of a file whose name ends in .prom"),
        (["--method", "-X", "--request"], ["G T", ""], "it takes the name of a method, such as GET"),
        (["--pinnedpubkey"], ["zz", "", "sha256//x"], "it takes sha256// and 44 characters of base 64"),
        (["--host-key"], ["aa:bb", ""], "it takes SHA256: and 43 characters of base 64"),
        (["--interface"], ["", "a b", "etherne"], "it takes the name of a network interface, such as eth0"),
        (["--endpoint"], ["zz", ""], "it takes https://HOST or http://HOST"),
        (["--mirror", "--to"], ["ftpp://h/x"], "http, https, s3, ftp, ftps and sftp are supported"),
        (["--proxy"], ["foo://h"], "unsupported scheme \"foo\"; http, https, socks5 and socks5h are supported"),
        (["-i", "--input-file"], ["http://h/x"], "-i takes a file with URLs"),
        (["-o", "--output"], ["{nme}"], "{name}"),
        (["-A", "--user-agent", "-e", "--referer"], ["a\nb"], "can't hold line breaks or other control characters"),
    ]

    /// Values that mustn't be told again, as every user of the machine may see what a program writes.
    static let secret: [(names: [String], value: String, form: String)] = [
        (
            ["--password", "--proxy-password", "--key-passphrase", "--ssh-key-passphrase"], "s3cret",
            "'$VARIABLE' or '@FILE'"
        ),
        (["-u", "--user"], "me:s3cret", "--user is a name alone; --password '$VARIABLE' or '@FILE' is the rest"),
        (["-H", "--header"], "Authorization: s3cret", "write 'Authorization: $VARIABLE'"),
        (["-b", "--cookie", "--load-cookies"], "a=s3cret", "name a file of cookies, or write --cookie '$VARIABLE'"),
        (["--on-finish"], "'s3cret x'", "write words with blanks as a JSON array"),
    ]

    /// Any text will do, or what can't be used is told when it's opened.
    static let anything: Set<String> = [
        "-d", "--directory", "--name", "--state", "--location", "--region", "--profile", "--data", "--checksums",
        "--report", "--config",
        "--netrc-file", "--known-hosts", "--ssh-key", "--cacert", "--cert", "--key", "--proxy-user", "--noproxy",
    ]

    /// A command line that is right but for what is put into it.
    private static func line(_ command: String, with words: [String]) -> [String] {
        let rest: [String: [String]] = [
            "get": ["http://a.example/x"], "put": ["f", "http://a.example/x"], "run": ["jobs.json"], "verify": ["f"],
            "watch": ["/", "--to", "http://a.example/"], "validate": ["jobs.json"],
        ]
        var others = rest[command] ?? []
        if words.contains("--to") { others = ["/"] }
        if words.contains("--proxy-password") { others += ["--proxy", "http://h", "--proxy-user", "me"] }
        if words.contains("--ssh-key-passphrase") { others += ["--ssh-key", "k"] }
        return [command] + words + others
    }

    private static var commands: [any ParsableCommand.Type] { Transfer.configuration.subcommands }

    /// The commands that have an option, by their names.
    private static func having(_ option: String) -> [String] {
        commands.filter { KnownOptions(of: $0).takesValue[option] == true }.map { $0._commandName }
    }

    /// - Returns: What is told, and the exit status; `nil` where the command line is taken.
    private static func answer(_ words: [String]) throws -> (text: String, status: Int32)? {
        do {
            let arguments = CommandArguments.normalized(words)
            _ = try Transfer.command(arguments)
            return nil
        } catch let failure as Failure {
            return (failure.message, failure.status.rawValue)
        } catch {
            return (Transfer.fullMessage(for: error), Transfer.exitCode(for: error).rawValue)
        }
    }

    @Test(arguments: refused.indices) func theOptionTheValueAndWhatIsTakenAreTold(_ index: Int) throws {
        let row = Self.refused[index]
        for name in row.names {
            let commands = Self.having(name)
            #expect(!commands.isEmpty, "\(name)")
            for (command, value) in commands.flatMap({ command in row.values.map { (command, $0) } }) {
                for words in [[name, value], ["\(name)=\(value)"]] {
                    let line = Self.line(command, with: words)
                    let answer = try #require(try Self.answer(line), "\(line) is taken")
                    #expect(answer.status == 64, "\(line): \(answer)")
                    #expect(answer.text.contains(row.form), "\(line): \(answer)")
                    let isToldAsOption =
                        answer.text.contains("'\(name)") || row.names.contains { answer.text.contains($0) }
                    #expect(isToldAsOption, "\(line): \(answer)")
                    let isProse = ["\n", "="].contains(where: value.contains) || name.hasSuffix("proxy")
                    #expect(isProse || answer.text.contains(value), "\(line): \(answer)")
                }
            }
        }
    }

    @Test(arguments: secret.indices) func aSecretIsNotToldAgain(_ index: Int) throws {
        let row = Self.secret[index]
        for name in row.names {
            for command in Self.having(name) {
                let line = Self.line(command, with: [name, row.value])
                let answer = try #require(try Self.answer(line), "\(line) is taken")
                #expect(answer.status == 64 && answer.text.contains(row.form), "\(line): \(answer)")
                #expect(!answer.text.contains("s3cret"), "\(line): \(answer)")
            }
        }
    }

    /// A new option has a row above, or is known to take anything.
    @Test func everyOptionThatTakesAValueIsInATable() {
        let listed = Set(Self.refused.flatMap(\.names) + Self.secret.flatMap(\.names)).union(Self.anything)
        let known = Set(
            Self.commands.flatMap { command in KnownOptions(of: command).takesValue.filter(\.value).map(\.key) })
        #expect(known.subtracting(listed).isEmpty && listed.subtracting(known).isEmpty)
        #expect(Self.anything.intersection(Self.refused.flatMap(\.names)).isEmpty)
    }

    /// The bounds themselves are taken, in every spelling.
    @Test(
        arguments: [
            ["--retry", "0"], ["--retry", "1000000"], ["-j", "1"], ["-j8"], ["-j10000"], ["--segments", "32"],
            ["--segments=auto"], ["--per-host", "auto"], ["--limit-rate", "1.5G"], ["--timeout", "250ms"],
            ["--retry-delay", "0"], ["--max-time", "1h30m"],
            ["--checksum", "sha-1=" + String(repeating: "0a", count: 20)],
            ["-X", "PROPFIND"], ["--interface", "wwan*"], ["--json=progress"],
            ["--metrics-file", "x.prom"], ["--connect-timeout", "0.5"],
        ]) func whatIsTakenIsTaken(_ words: [String]) throws
    {
        let line = Self.line("get", with: words)
        #expect(try Self.answer(line) == nil, "\(line)")
    }

    /// What flags are given with `=`.
    @Test(
        arguments: [
            (
                "get --json=foo",
                "The value 'foo' is invalid for '--json': it takes none, or progress (--json=progress adds"
            ),
            ("watch --json=all", "it takes none, or progress"),
            ("status --json=foo", "The value 'foo' is invalid for '--json': it takes no value"),
            ("status --json=progress", "it takes no value here; get, put, run and watch tell progress"),
            ("run --strict=yes", "The value 'yes' is invalid for '--strict': it takes no value"),
        ]) func aFlagTakesNoValue(_ line: String, _ message: String) throws
    {
        let words = line.split(separator: " ").map(String.init)
        let answer = try #require(try Self.answer(Self.line(words[0], with: Array(words.dropFirst()))))
        #expect(answer.status == 64 && answer.text.contains(message), "\(answer)")
    }

    /// Variables are told as the options that they stand for.
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
