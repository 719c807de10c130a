import TransferCore
import TransferQueue

/// A text with variables, which is written after each request (curl's `--write-out`).
struct AnswerReport: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        case text(String)
        case variable(Variable)
        case header(String)
        case stream(isError: Bool)
        /// The rest is written only for a failure.
        case onlyForFailures
    }

    enum Variable: String, CaseIterable, Sendable {
        case httpCode = "http_code"
        case responseCode = "response_code"
        case connectCode = "http_connect"
        case httpVersion = "http_version"
        case exitCode = "exitcode"
        case errorText = "errormsg"
        case url, method, scheme, referer
        case finalURL = "url_effective"
        case redirectURL = "redirect_url"
        case redirects = "num_redirects"
        case number = "urlnum"
        case file = "filename_effective"
        case contentType = "content_type"
        case headers = "num_headers"
        case connections = "num_connects"
        case received = "size_download"
        case sent = "size_upload"
        case receivedHead = "size_header"
        case sentHead = "size_request"
        case receiveRate = "speed_download"
        case sendRate = "speed_upload"
        case verification = "ssl_verify_result"
        case remoteAddress = "remote_ip"
        case remotePort = "remote_port"
        case localAddress = "local_ip"
        case localPort = "local_port"
        case lookUpTime = "time_namelookup"
        case connectTime = "time_connect"
        case handshakeTime = "time_appconnect"
        case requestTime = "time_pretransfer"
        case firstByteTime = "time_starttransfer"
        case redirectTime = "time_redirect"
        case totalTime = "time_total"
    }

    struct Fault: Error { var message: String }

    private(set) var parts: [Part] = []

    /// Reads a text with `%{NAME}`, `%header{NAME}`, `%%`, `\n`, `\r` and `\t`.
    init(_ text: String) throws(Fault) {
        var rest = text[...]
        var plain = ""
        func flush(_ part: Part, _ parts: inout [Part]) {
            if !plain.isEmpty { parts.append(.text(plain)) }
            plain = ""
            parts.append(part)
        }
        while let character = rest.popFirst() {
            switch (character, rest.first) {
            case ("\\", "n"?), ("\\", "r"?), ("\\", "t"?):
                plain += ["n": "\n", "r": "\r", "t": "\t"][rest.removeFirst()] ?? ""
            case ("%", "%"?): plain.append(rest.removeFirst())
            case ("%", _):
                guard let (name, value) = Self.braced(&rest) else {
                    plain.append("%")
                    continue
                }
                flush(try Self.part(name, value), &parts)
            default: plain.append(character)
            }
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
    }

    /// Takes `NAME{VALUE}` from the front of a text; the name may be empty.
    private static func braced(_ rest: inout Substring) -> (name: Substring, value: Substring)? {
        let name = rest.prefix { $0.isASCII && $0.isLetter }
        guard name.isEmpty || ["header", "output"].contains(name), rest.dropFirst(name.count).first == "{",
            let end = rest.firstIndex(of: "}")
        else { return nil }
        let value = rest.dropFirst(name.count + 1)[..<end]
        rest = rest[rest.index(after: end)...]
        return (name, value)
    }

    private static func part(_ name: Substring, _ value: Substring) throws(Fault) -> Part {
        switch (name, value) {
        case ("header", _): return .header(String(value))
        case ("", "stderr"): return .stream(isError: true)
        case ("", "stdout"): return .stream(isError: false)
        case ("", "onerror"): return .onlyForFailures
        case ("", _):
            if let variable = Variable(rawValue: String(value)) { return .variable(variable) }
            let shown = "%{\(Wording.printable(String(value)))}"
            throw Fault(message: "\(shown) has no equivalent; `transfer get --json` reports a file's events")
        default: throw Fault(message: "%\(name){} has no equivalent; 2> FILE and > FILE name files")
        }
    }

    /// A piece of a report, for standard output or standard error.
    struct Piece: Sendable, Hashable {
        var text = ""
        var isError = false
    }

    /// Returns the pieces of the report.
    func pieces(_ facts: AnswerFacts) -> [Piece] {
        var pieces = [Piece()]
        for part in parts {
            switch part {
            case .text(let text): pieces[pieces.count - 1].text += text
            case .variable(let variable): pieces[pieces.count - 1].text += facts.text(of: variable)
            case .header(let name): pieces[pieces.count - 1].text += facts.header(name)
            case .stream(let isError): pieces.append(Piece(isError: isError))
            case .onlyForFailures: if facts.exitCode == 0 { return pieces }
            }
        }
        return pieces
    }
}
