import Foundation
import TransferNetworking

/// The request layer in a process of its own, which separates its memory from that of the test runner and the server.
/// It may have a network of its own. It prints one line of JSON.
///
/// ```
/// request-load many URL FIRST MORE
/// request-load form URL FILE
/// request-load stream URL FILE
/// request-load unread input-stream|sequence|queue|suspended|undecided URL FILE
/// request-load plain URL
/// request-load offline KIND (`WithoutNetwork` has them)
/// ```
@main
enum RequestLoad {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let report: Report
        switch (arguments.first, Array(arguments.dropFirst())) {
        case ("many", let rest) where rest.count == 3:
            report = try await ManyRequests(url: rest[0], first: count(rest[1]), more: count(rest[2])).run()
        case ("form", let rest) where rest.count == 2:
            report = try await LargeUpload(url: rest[0], file: rest[1]).runForm()
        case ("stream", let rest) where rest.count == 2:
            report = try await LargeUpload(url: rest[0], file: rest[1]).runStream()
        case ("unread", let rest) where rest.count == 3:
            report = try await UnreadAnswer(url: rest[1], file: rest[2]).run(rest[0])
        case ("plain", let rest) where rest.count == 1:
            print(try await AF.request(rest[0]).serializingString().value)
            return
        case ("offline", let rest) where rest.count == 1:
            print(try await WithoutNetwork().run(rest[0]).joined(separator: "\n"))
            return
        default: throw LoadError("see the comment of RequestLoad for what can be asked for")
        }
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
    }

    private static func count(_ text: String) throws -> Int {
        guard let count = Int(text) else { throw LoadError("no number: \(text)") }
        return count
    }
}

struct Report: Codable {
    /// The resident bytes before the load, and the peak during it or the bytes after it.
    var before: Int64
    var after: Int64
    /// Whether the complete and correct data came.
    var isRight: Bool
    var protocolName: String?
}

struct LoadError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
