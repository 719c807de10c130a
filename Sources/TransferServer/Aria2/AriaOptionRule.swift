/// The values that options of a download may have, as in aria2's manual. Other options are checked where they are read.
enum AriaOptionRule {
    private static let choices: Set<String> = [
        "pause", "allow-overwrite", "auto-file-renaming", "continue", "remote-time", "conditional-get",
        "check-certificate", "check-integrity", "http-accept-gzip", "http-no-cache", "use-head", "ftp-pasv",
        "no-netrc",
    ]

    private static let ranges: [String: ClosedRange<Int>] = [
        "max-connection-per-server": 1...16, "split": 1...Int.max, "timeout": 1...600, "connect-timeout": 1...600,
        "max-tries": 0...Int.max, "retry-wait": 0...600,
    ]

    /// Checks the values of options.
    ///
    /// - Throws: `AriaError` for the first option with another value.
    static func check(_ options: [String: String]) throws {
        for (name, value) in options.sorted(by: { $0.key < $1.key }) {
            if choices.contains(name), value != "true", value != "false" { throw AriaError.option(name) }
            guard let range = ranges[name] else { continue }
            guard let number = Int(value), range.contains(number) else { throw AriaError.option(name) }
        }
    }
}
