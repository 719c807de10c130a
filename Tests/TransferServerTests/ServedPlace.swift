import Foundation
import TransferTestSupport

/// A service in a folder of its own, on a port that the kernel chose, with curl as its client.
struct ServedPlace: Sendable {
    let folder: TemporaryFolder
    let process: ChildProcess
    /// The address in the form `http://127.0.0.1:PORT`.
    let url: String
    let secret: String

    /// The options of a service with the secret `letmein-please`, whose clients may use servers of this machine.
    static let options = ["--secret", "$SECRET", "--allow-private"]

    /// - Parameters:
    ///   - options: The options besides the folder and the address.
    ///   - folder: The folder of an earlier service, with its state.
    static func start(
        _ options: [String] = options, in folder: TemporaryFolder? = nil, environment: [String: String] = [:],
        listen: String = "127.0.0.1:0"
    ) async throws -> ServedPlace {
        let folder = try folder ?? TemporaryFolder("serve")
        _ = try folder.folder("files")
        var command = ChildProcess.Command(
            try TransferCommand.builtProduct("transfer-server"),
            ["--listen", listen, "--state", folder.path("state"), "--directory", folder.path("files")] + options,
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": folder.path("home"), "LANG": "C.UTF-8", "SECRET": Self.secret,
                "READER": "only-looking",
            ].merging(environment) { $1 }, workingFolder: folder.path, timeout: .seconds(300))
        command.standardInput = .none
        let process = try ChildProcess.start(command)
        let line = try await process.line(.standardOutput) { $0.hasPrefix("serving ") }
        let address = line.split(separator: " ").last.map(String.init) ?? ""
        return ServedPlace(folder: folder, process: process, url: address, secret: Self.secret)
    }

    static let secret = "letmein-please"

    /// Shuts the service down in order.
    @discardableResult
    func stop() async throws -> ProcessResult {
        process.kill(SIGTERM)
        return try await process.result()
    }

    /// The answer that curl received.
    struct Answer: Sendable {
        let status: Int
        let head: String
        let body: Data

        var text: String { String(decoding: body, as: UTF8.self) }
        var json: [String: Any] { (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:] }

        func field(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ":") }.map {
                $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
            }
        }
    }

    /// - Parameters:
    ///   - path: A path of the service, or a whole URL with a leading `@`.
    ///   - secret: The bearer token; `nil` sends none.
    func ask(
        _ path: String, method: String? = nil, json: String? = nil, body: String? = nil, type: String? = nil,
        headers: [String] = [], secret: String? = ServedPlace.secret, curl: [String] = []
    ) async throws -> Answer {
        var arguments = ["-sS", "-i", "--noproxy", "*", "--max-time", "30"] + curl
        if let secret { arguments += ["-H", "Authorization: Bearer \(secret)"] }
        if let method { arguments += ["-X", method] }
        for header in headers { arguments += ["-H", header] }
        if let text = json ?? body {
            arguments += ["-H", "Content-Type: \(type ?? "application/json")", "--data-binary", "@-"]
            return try await Self.curl(arguments + [url + path], input: text)
        }
        return try await Self.curl(arguments + [url + path], input: nil)
    }

    /// Sends raw bytes, and returns the answer to them.
    func exchange(_ bytes: Data) async throws -> String {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Clients/raw.py"
        var command = ChildProcess.Command(
            "/usr/bin/python3", [script, port], environment: ["PATH": "/usr/bin:/bin"])
        command.standardInput = .data(bytes)
        return String(decoding: try await ChildProcess.start(command).result().standardOutputData, as: UTF8.self)
    }

    private static func curl(_ arguments: [String], input: String?) async throws -> Answer {
        var command = ChildProcess.Command("/usr/bin/curl", arguments, environment: ["PATH": "/usr/bin:/bin"])
        if let input { command.standardInput = .data(Data(input.utf8)) }
        let output = try await ChildProcess.start(command).result()
        var rest = output.standardOutputData[...]
        var head = ""
        // Interim answers come first.
        repeat {
            guard let end = rest.range(of: Data("\r\n\r\n".utf8)) else {
                throw TestSupportError("curl got no answer: \(output)")
            }
            head = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
            rest = rest[end.upperBound...]
        } while head.hasPrefix("HTTP/1.1 1")
        let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Answer(status: status, head: head, body: Data(rest))
    }

    /// Waits until a job is in the given state.
    func job(_ gid: String, becomes state: String) async throws -> [String: Any] {
        try await found("job \(gid) becomes \(state)") {
            let job = try await ask("/api/v1/jobs/\(gid)").json
            return job["state"] as? String == state ? job : nil
        }
    }
}

/// Repeats a check until it holds, since no event reports the work of another process.
func until(_ what: String, within limit: Duration = .seconds(30), _ condition: () async throws -> Bool) async throws {
    try await found(what, within: limit) { try await condition() ? () : nil }
}

/// Repeats a check until it gives a value.
@discardableResult
func found<Value>(
    _ what: String, within limit: Duration = .seconds(30), _ look: () async throws -> Value?
) async throws -> Value {
    let end = ContinuousClock.now + limit
    while true {
        if let value = try await look() { return value }
        guard ContinuousClock.now < end else { throw TestSupportError("not within \(limit): \(what)") }
        // The sleep is necessary, since no event reports the work of another process.
        try await Task.sleep(for: .milliseconds(20))
    }
}

/// Starts a service, and ends it however the test ends.
func withService(
    _ options: [String] = ServedPlace.options, environment: [String: String] = [:],
    _ body: (ServedPlace) async throws -> Void
) async throws {
    let place = try await ServedPlace.start(options, environment: environment)
    do {
        try await body(place)
    } catch {
        place.process.kill(SIGKILL)
        throw error
    }
    place.process.kill(SIGKILL)
    _ = try? await place.process.result()
}

/// Returns a job as JSON.
func job(_ url: String, to path: String, _ more: String = "") -> String {
    "{\"download\": \"\(url)\", \"to\": \"\(path)\"\(more.isEmpty ? "" : ", " + more)}"
}
