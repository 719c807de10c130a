import TransferCore
import TransferEngine

/// The facts about a request that a report may name.
struct AnswerFacts {
    var outcome: ExchangeOutcome
    /// The URL that was asked for.
    var url: String
    /// The file that the body went to; empty for standard output.
    var file: String
    /// The position of the URL in the line, from 0.
    var number: Int
    /// The field Referer of the request.
    var referer = ""
    var refusals: FrontAnswer.Refusals
    /// Whether the reader of the body had enough, which is no failure.
    var isClosed = false

    /// Whether the answer's status is an error of the line.
    var isRefused: Bool {
        guard refusals != .taken, let head = outcome.head else { return false }
        return head.status >= 400
    }

    var isFailure: Bool { exitCode != 0 }

    /// The exit status of curl for this outcome (its manual, "EXIT CODES").
    var exitCode: Int32 {
        switch outcome.result {
        case .success: return isRefused ? 22 : 0
        case .failure where isClosed: return 0
        case .failure(let error):
            if case .curl(let code)? = error.cause { return code }
            let known: [TransferError.Code: Int32] = [
                .cannotResolveHost: 6, .cannotConnect: 7, .timedOut: 28, .tooSlow: 28, .secureConnectionFailed: 35,
                .certificateRefused: 60, .tooManyRedirects: 47, .badURL: 3, .badResponse: 8, .httpStatus: 22,
            ]
            return known[error.code] ?? 56
        }
    }

    /// The reason of a failure; empty for a success.
    var errorText: String {
        switch outcome.result {
        case .success: isRefused ? "the server answered \(outcome.head?.status ?? 0)" : ""
        case .failure(let error): error.message
        }
    }

    func header(_ name: String) -> String {
        outcome.head?.fields.first { $0.isNamed(name) }?.value ?? ""
    }

    func text(of variable: AnswerReport.Variable) -> String {
        switch variable {
        case .httpCode, .responseCode: Self.code(outcome.head?.status ?? 0)
        case .connectCode: Self.code(0)
        case .httpVersion: version
        case .exitCode: "\(exitCode)"
        case .errorText: errorText
        case .url: url
        case .method: last?.method ?? ""
        case .scheme: last.map { $0.requestStart > 0 ? $0.url.prefix { $0 != ":" }.uppercased() : "" } ?? ""
        case .referer: referer
        case .finalURL: outcome.finalURL
        case .redirectURL: redirectURL
        case .redirects: "\(outcome.metrics.redirects)"
        case .number: "\(number)"
        case .file: file
        case .contentType: header("Content-Type")
        case .headers: "\(outcome.head?.fields.count ?? 0)"
        case .connections: "\(outcome.metrics.connectionsMade)"
        case .received: "\(received)"
        case .sent: "\(last?.requestBodyBytes ?? 0)"
        case .receivedHead: "\(outcome.hops.reduce(0) { $0 + $1.responseHeaderBytes })"
        case .sentHead: "\(outcome.hops.reduce(0) { $0 + $1.requestHeaderBytes })"
        case .receiveRate: rate(received)
        case .sendRate: rate(last?.requestBodyBytes ?? 0)
        case .verification: "0"
        case .remoteAddress: last?.remoteAddress ?? ""
        case .remotePort: "\(last?.remotePort ?? 0)"
        case .localAddress: last?.localAddress ?? ""
        case .localPort: "\(last?.localPort ?? 0)"
        case .lookUpTime, .connectTime, .handshakeTime, .requestTime, .firstByteTime, .redirectTime, .totalTime:
            Self.seconds(time(variable))
        }
    }

    private var last: HopMetrics? { outcome.hops.last }

    /// The bytes of the body as they came over the network; a refusal's body that is dropped does not count.
    private var received: Int64 { isRefused && refusals == .dropped ? 0 : last?.responseBodyBytes ?? 0 }

    /// The time from the start of the request, redirects included.
    private func time(_ variable: AnswerReport.Variable) -> Double {
        let before = outcome.hops.dropLast().reduce(0) { $0 + $1.total }
        guard let last else { return 0 }
        let own =
            switch variable {
            case .lookUpTime: last.nameLookup
            case .connectTime: last.connect
            case .handshakeTime: last.tls
            case .requestTime: last.requestStart
            case .firstByteTime: last.firstByte
            case .totalTime: last.total
            default: 0.0
            }
        return own > 0 || variable == .redirectTime ? before + own : 0
    }

    private var version: String {
        switch last?.httpVersion {
        case 1: "1.0"
        case 2: "1.1"
        case 3: "2"
        case 30: "3"
        default: "0"
        }
    }

    /// The URL that a redirect named which was not followed.
    private var redirectURL: String {
        guard let head = outcome.head, (300..<400).contains(head.status), let location = head.value("Location") else {
            return ""
        }
        return RedirectTarget.resolve(location, against: outcome.finalURL) ?? ""
    }

    private func rate(_ bytes: Int64) -> String {
        let total = time(.totalTime)
        return total > 0 ? "\(Int64(Double(bytes) / total))" : "0"
    }

    private static func code(_ status: Int) -> String {
        let text = "\(status)"
        return String(repeating: "0", count: max(0, 3 - text.count)) + text
    }

    /// The seconds with six decimals.
    static func seconds(_ time: Double) -> String {
        let micros = Int64((max(0, time) * 1e6).rounded())
        let rest = "\(micros % 1_000_000)"
        return "\(micros / 1_000_000)." + String(repeating: "0", count: 6 - rest.count) + rest
    }
}
