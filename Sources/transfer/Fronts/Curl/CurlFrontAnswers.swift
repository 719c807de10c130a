import TransferCore
import TransferQueue

/// The options of curl that ask for more than a file, up to the next `--next`.
struct CurlFrontAnswers {
    static let names: Set<String> = [
        "include", "head", "dump-header", "write-out", "range", "cookie-jar", "fail-with-body", "retry-max-time",
        "url-query",
    ]

    var answer = FrontAnswer()
    /// Whether `--fail` is among the options.
    var fails = false
    private var failsWithBody = false
    /// The option that only such a line can have.
    private(set) var retryTime: FrontOption?
    /// The pieces that every URL's query gets.
    private(set) var query: [String] = []

    /// Takes an option.
    ///
    /// - Returns: Why the option cannot be taken; `nil` for one that was.
    mutating func take(_ option: FrontOption) -> FrontFault? {
        switch option.name {
        case "include": answer.includesHead = option.isOn
        case "head": answer.asksHead = option.isOn
        case "dump-header": answer.headFile = option.value
        case "fail-with-body": failsWithBody = option.isOn
        case "cookie-jar":
            answer.jar = option.value
            answer.keepsCookies = true
        case "range":
            guard !option.value.isEmpty, option.value.allSatisfy({ $0.isNumber || "-, ".contains($0) }) else {
                return option.fault("a range is written FIRST-LAST, in bytes")
            }
            answer.range = option.value
        case "retry-max-time":
            guard let seconds = Double(option.value), seconds >= 0, seconds < 1e9 else {
                return option.fault("it takes a number of seconds")
            }
            answer.retryTime = seconds > 0 ? .milliseconds(Int64(seconds * 1_000)) : nil
            retryTime = option
        case "url-query": return take(query: option)
        case "write-out": return take(report: option)
        default: break
        }
        return nil
    }

    private mutating func take(report option: FrontOption) -> FrontFault? {
        var text = option.value
        if text.hasPrefix("@") {
            switch FrontInput.text(String(text.dropFirst())) {
            case .success(let read): text = read.filter { !$0.isNewline }
            case .failure(let refusal): return option.fault(refusal.reason)
            }
        }
        do throws(AnswerReport.Fault) {
            answer.report = try AnswerReport(text)
            return nil
        } catch {
            return option.fault(error.message, canBeLeftOut: true)
        }
    }

    private mutating func take(query option: FrontOption) -> FrontFault? {
        let value = option.value
        guard !value.hasPrefix("@") else { return option.fault("write the text of the query: NAME=TEXT") }
        guard !value.hasPrefix("+") else {
            query.append(String(value.dropFirst()))
            return nil
        }
        let mark = value.firstIndex(of: "=")
        let text = mark.map { value[value.index(after: $0)...] } ?? value[...]
        query.append(CurlFrontOperation.encoded(text, named: mark.map { value[..<$0] } ?? ""))
        return nil
    }

    /// Returns a URL with the further pieces of its query.
    func query(behind url: String) -> String {
        guard !query.isEmpty else { return url }
        let fragment = url.firstIndex(of: "#") ?? url.endIndex
        let mark = url[..<fragment].contains("?") ? "&" : "?"
        return url[..<fragment] + mark + query.joined(separator: "&") + url[fragment...]
    }

    /// Returns whether the answers are asked for, and not files alone.
    ///
    /// - Parameter hasFiles: Whether bodies go to files, which no answer that refuses replaces.
    func areMeant(hasFiles: Bool) -> Bool { answer.isMeant || failsWithBody && !hasFiles }

    /// Returns the fault of options that exclude each other.
    var fault: FrontFault? {
        if fails, failsWithBody {
            return FrontFault(shown: "-f", reason: "curl takes --fail or --fail-with-body, not both")
        }
        return nil
    }

    /// The answer that a request of the line asks for.
    func answer(follows: Bool) -> FrontAnswer {
        var answer = answer
        answer.follows = follows
        answer.refusals = failsWithBody ? .written : fails ? .dropped : .taken
        return answer
    }
}

extension CurlFrontOperation {
    /// Whether the options ask for more than files, so that no job does the work.
    var asksForAnswers: Bool { answers.areMeant(hasFiles: !destinations.outputs.isEmpty || destinations.namesAll) }

    /// Checks the options of a line that no job does.
    func checkAnswers() throws(Faults) {
        func refuse(_ shown: String, _ reason: String) -> Faults {
            Faults(faults: [FrontFault(shown: shown, reason: reason)])
        }
        let files = "a job sends or continues a file, and shows no head, no part and no facts of the answer"
        if !uploads.isEmpty { throw refuse("-T", files) }
        if form.hasFile { throw refuse("-F", files) }
        if destinations.continues { throw refuse("-C", files) }
        if destinations.serverNames { throw refuse("-J", "only a job takes the server's name: -o FILE names one") }
        if destinations.skips { throw refuse("--skip-existing", files) }
        if answers.answer.asksHead, form.place != nil || body.place != nil && !body.isQuery {
            throw refuse("-I", "a request asks for the head, or has a body, not both")
        }
    }
}
