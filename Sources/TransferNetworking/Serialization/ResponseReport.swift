import Foundation
import FoundationNetworking
import TransferCore

/// The layout of what a response tells a programmer: one topic a line, and what belongs to it indented below.
struct ResponseReport {
    /// Longer bodies are shown by their length, in bytes.
    static let longestBody = 10_000

    private var lines: [String] = []

    var text: String { lines.joined(separator: "\n") }

    mutating func add(_ topic: String, _ text: String) { lines.append("\(topic): \(text)") }

    /// The body of a request may hold passwords that nobody could tell from text: only its length is shown.
    mutating func add(_ request: URLRequest?) {
        guard let request, let url = request.url else { return add("Request", "none") }
        add("Request", "\(request.httpMethod ?? "GET") \(Redaction.url(url.absoluteString))")
        add(request.headers.sorted())
        if let body = request.httpBody { addIndented("Body: \(CountText.bytes(body.count))") }
    }

    mutating func add(_ response: HTTPURLResponse?) {
        guard let response else { return add("Response", "none") }
        let url = response.url.map { " \(Redaction.url($0.absoluteString))" } ?? ""
        add("Response", "\(response.statusCode)\(url)")
        add(response.headers)
    }

    mutating func add(_ response: HTTPURLResponse?, body: Data?) {
        add(response)
        guard let body else { return }
        addIndented("Body: \(CountText.bytes(body.count))")
        if let text = Self.printable(body) { addIndented(text) }
    }

    mutating func add(_ metrics: TransferTaskMetrics?, _ serialization: TimeInterval) {
        add("Network", metrics.map { Self.seconds($0.taskInterval.duration) } ?? "not reached")
        add("Serialization", Self.seconds(serialization))
    }

    private mutating func add(_ headers: HTTPHeaders) {
        for header in headers {
            // Location and others have URLs.
            addIndented(HTTPHeader(name: header.name, value: Redaction.url(header.value)).description)
        }
    }

    private mutating func addIndented(_ text: String) {
        lines += text.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
    }

    private static func seconds(_ seconds: TimeInterval) -> String { String(format: "%.6f s", seconds) }

    /// What isn't text, or would move a terminal's cursor, isn't shown.
    private static func printable(_ body: Data) -> String? {
        guard !body.isEmpty, body.count <= longestBody, let text = String(data: body, encoding: .utf8) else {
            return nil
        }
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.generalCategory != .control || "\n\t\r".unicodeScalars.contains(scalar)
        }
        return isPlain ? text.replacingOccurrences(of: "\r\n", with: "\n") : nil
    }
}
