import TransferCore
import TransferQueue

/// The answer to unknown options, before any argument is taken for a URL or a file.
///
/// Unknown options are mostly another tool's. All of them are answered at once, with the equivalent command where every
/// option has an equivalent.
struct OptionCheck {
    /// The result for one option.
    private enum Verdict {
        /// The option is dropped: its effect is the normal behaviour.
        case dropped
        /// The option has the meaning of these words.
        case replaced([String])
        case answered(String, rewritten: [String]?)
    }

    let command: String
    let known: KnownOptions

    /// Checks the arguments.
    ///
    /// - Returns: The arguments without options for the normal behaviour.
    /// - Throws: `Failure` with all the answers.
    func pass(_ arguments: [String]) throws(Failure) -> [String] {
        var (kept, rewritten, answers): ([String], [String], [String]) = ([], [], [])
        var canBePasted = true
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument != "--" else {
                kept += [argument] + rest
                rewritten += [argument] + rest
                break
            }
            guard argument.hasPrefix("-"), argument != "-" else {
                kept.append(argument)
                rewritten.append(argument)
                continue
            }
            let (name, attached) = split(argument)
            if let answer = numbered(argument, next: rest.first) {
                answers.append(answer)
                canBePasted = false
                if argument.count == 2 { rest.removeFirst() }
                continue
            }
            if let takesValue = known.takesValue[name] {
                if !takesValue, attached == nil, !argument.hasPrefix("--"), argument.count > 2, !known.has(argument) {
                    // The joined letters behind a flag of this command may be another tool's.
                    rest = ["-" + argument.dropFirst(2)] + rest
                    kept.append(name)
                    rewritten.append(name)
                    continue
                }
                if !takesValue, let attached, let answer = refusal(of: attached, for: name) {
                    answers.append(answer)
                    canBePasted = false
                    continue
                }
                var words = [argument]
                if takesValue, let value = attached ?? rest.popFirst() {
                    // Name and value are joined, as the parser would take a negative number for an option.
                    let isJoined = attached != nil || value.isNegativeNumber
                    words = isJoined ? ["\(name)=\(value)"] : [argument, value]
                }
                kept += words
                rewritten += words
                continue
            }
            let foreign = ForeignOptions.find(name, value: attached ?? rest.first)
            var value = attached
            switch foreign?.value {
            case .nothing?:
                // Joined flags are checked one by one.
                if let more = attached, !argument.hasPrefix("--"), !more.isEmpty { rest = ["-" + more] + rest }
            case .anything?, .number?, .seconds?: if value == nil { value = rest.popFirst() }
            case nil: break
            }
            switch verdict(name, value, foreign) {
            case .dropped: continue
            case .replaced(let words):
                kept += words
                rewritten += words
            case .answered(let answer, let words):
                if !answers.contains(answer) { answers.append(answer) }
                if let words { rewritten += words } else { canBePasted = false }
            }
        }
        guard !answers.isEmpty else { return kept }
        var lines = answers
        // A secret on the command line is not repeated.
        let hasCookie = zip(rewritten, rewritten.dropFirst()).contains {
            ["-b", "--cookie"].contains($0) && $1.contains("=")
        }
        if canBePasted, !hasCookie, !rewritten.contains(where: Self.mayBeSecret) {
            let words = ["transfer", command] + rewritten
            lines.append("Here:    " + words.map { ShellWord.quoted($0) }.joined(separator: " "))
        }
        lines.append("Options: transfer \(command) --help")
        throw Failure(.wrongUsage, lines.joined(separator: "\n"))
    }

    /// Returns the answer to a flag of this command that another tool gives a number, such as `-k1M` of aria2.
    private func numbered(_ argument: String, next: String?) -> String? {
        let name = String(argument.prefix(2))
        guard !argument.hasPrefix("--"), known.takesValue[name] == false, !known.takesValue.keys.contains("--protocol")
        else { return nil }
        let value = argument.count == 2 ? next ?? "" : String(argument.dropFirst(2))
        guard value.first?.isNumber == true, value.allSatisfy({ $0.isNumber || $0.isLetter }),
            let foreign = ForeignOptions.find(name, value: value), foreign.value == .number,
            case .answered(let answer, _) = verdict(name, value, foreign)
        else { return nil }
        return answer
    }

    private static func mayBeSecret(_ word: String) -> Bool {
        if word.contains("://") { return Redaction.url(word) != word }
        guard let colon = word.firstIndex(of: ":") else { return false }
        return Redaction.isSecretHeader(word[..<colon]) && !word[colon...].dropFirst().drop { $0 == " " }.hasPrefix("$")
    }

    /// Checks the value of a flag.
    ///
    /// - Returns: Why a flag has no such value; `nil` for joined letters.
    private func refusal(of value: String, for name: String) -> String? {
        guard name.hasPrefix("--") else { return nil }
        let what = known.has("--json-progress") && name == "--json" ? OptionCheck.json : "it takes no value"
        return "The value '\(value)' is invalid for '\(name)': \(what)"
    }

    /// The values of `--json`.
    private static let json = "it takes none, or progress (--json=progress adds the progress of each job)"

    /// Splits an argument into the name and a joined value: `--name=value`, `-j8`.
    private func split(_ argument: String) -> (name: String, value: String?) {
        if argument.hasPrefix("--") {
            guard let equals = argument.firstIndex(of: "=") else { return (argument, nil) }
            return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
        }
        // wget has names of two letters behind one dash.
        if known.has(argument) || argument.count == 2 || ForeignOptions.has(argument) { return (argument, nil) }
        let name = String(argument.prefix(2))
        // Several joined letters are flags.
        if known.takesValue[name] == false { return (name, nil) }
        return (name, String(argument.dropFirst(2).trimmingPrefix("=")))
    }

    private func verdict(_ name: String, _ value: String?, _ foreign: ForeignOption?) -> Verdict {
        guard let foreign else {
            // The command would accept --json=progress if it reported progress.
            if name == "--json-progress", known.has("--json") {
                return .answered(
                    "The value 'progress' is invalid for '--json': it takes no value here; get, put, copy, run and watch "
                        + "report progress", rewritten: nil)
            }
            let nearest = nearest(to: name).map { "; did you mean \($0)?" } ?? ""
            return .answered("transfer \(command) has no \(name)\(nearest)", rewritten: nil)
        }
        switch foreign.answer {
        case .always: return .dropped
        case .same(let words):
            // aria2 writes --allow-overwrite=false.
            if let value, value != "true" {
                return .answered(
                    "no \(name)=\(value) here: \(words.joined(separator: " ")) does what \(name) does", rewritten: nil)
            }
            guard let option = words.first, known.has(option) else {
                return .answered(
                    "no \(name) here: \(words.joined(separator: " ")) does it, which transfer \(command) does not have",
                    rewritten: nil)
            }
            return .replaced(words)
        case .option(let option):
            guard let takesValue = known.takesValue[option] else {
                return .answered(
                    "no \(name) here: \(option) does it, which transfer \(command) does not have", rewritten: nil)
            }
            // A password must not be repeated, nor be where every process sees it.
            if option == "--proxy-password" {
                return .answered(
                    "no \(name) here: --proxy-password '$VARIABLE', or '@FILE' (never the password itself)",
                    rewritten: nil)
            }
            if option == "--password" || option == "--user" && value?.contains(":") == true {
                return .answered(
                    "no \(name) here: --user NAME --password '$VARIABLE', or '@FILE' (never the password itself)",
                    rewritten: nil)
            }
            let shown = value.map { $0.contains("://") ? Redaction.url($0) : $0 }
            let words = takesValue ? [option, shown ?? "…"] : [option]
            return .answered(
                "no \(name) here: \(words.map { ShellWord.quoted($0) }.joined(separator: " "))",
                rewritten: takesValue && (value == nil || shown != value) ? nil : words)
        case .tries(let option):
            guard known.has(option) else {
                return .answered(
                    "no \(name) here: \(option) does it, which transfer \(command) does not have", rewritten: nil)
            }
            // In those tools, 0 attempts are attempts without an end.
            let words = value.flatMap { Int($0) }.map {
                [option, "\($0 == 0 ? FieldRanges.retries.upperBound : max(0, $0 - 1))"]
            }
            return .answered(
                "no \(name) here: \(words?.joined(separator: " ") ?? option), as the first attempt is not counted",
                rewritten: words)
        case .key(let example):
            return .answered("no \(name) here: in a job file (`transfer run`), \(example)", rewritten: nil)
        case .list(let form):
            let words = value.map { command == "run" ? [$0, "--format", form] : ["-i", $0, "--format", form] }
            guard let words, ["run", "get"].contains(command) else {
                return .answered("no \(name) here: transfer get -i FILE --format \(form)", rewritten: nil)
            }
            let shown = words.map { ShellWord.quoted($0) }.joined(separator: " ")
            return .answered("no \(name) here: \(shown)", rewritten: words)
        case .words(let words): return .answered("no \(name) here: \(words)", rewritten: nil)
        }
    }

    private func nearest(to name: String) -> String? {
        NearestKey.suggestion(for: name, among: known.takesValue.keys.filter { $0.hasPrefix("--") }.sorted())
    }
}

extension String {
    /// Whether the text is like `-1` or `-2.5%`: no option here is a digit.
    fileprivate var isNegativeNumber: Bool { hasPrefix("-") && dropFirst().first?.isNumber == true }
}
