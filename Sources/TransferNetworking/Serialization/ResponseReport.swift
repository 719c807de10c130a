import Foundation
import FoundationNetworking
import TransferCore

/// The layout of a response's description for programmers: one topic a line, with its details indented below.
struct ResponseReport {
    /// The size of the longest body whose text is shown, in bytes.
    static let longestBody = 10_000

    private var lines: [String] = []

    var text: String { lines.joined(separator: "\n") }

    mutating func add(_ topic: String, _ text: String) { lines.append("\(topic): \(text)") }

    /// Adds a request with only the length of its body, which may contain passwords that look like other text.
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
            // Fields such as Location contain URLs.
            addIndented(HTTPHeader(name: header.name, value: Redaction.url(header.value)).description)
        }
    }

    private mutating func addIndented(_ text: String) {
        lines += text.split(separator: "\n", omittingEmptySubsequences: false).map { "    \($0)" }
    }

    private static func seconds(_ seconds: TimeInterval) -> String { String(format: "%.6f s", seconds) }

    /// Returns the body as text; `nil` if it is not text, or would move a terminal's cursor.
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
