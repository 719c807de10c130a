import Logging
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// The messages of a queue to a program's logger.
@Suite(.timeLimit(.minutes(1))) struct QueueLogTests {
    private struct Line: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: Logger.Metadata
        let source: String

        subscript(_ key: String) -> String? { metadata[key].map { "\($0)" } }
    }

    private struct Handler: LogHandler {
        let lines: AwaitedState<[Line]>
        var logLevel: Logger.Level
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            lines.change {
                $0.append(
                    Line(level: event.level, message: "\(event.message)", metadata: all, source: event.source))
            }
        }
    }

    private let folder: TemporaryFolder
    private let lines = AwaitedState<[Line]>([])

    init() throws { folder = try TemporaryFolder("log") }

    private func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { [lines] _ in Handler(lines: lines, logLevel: level) }
        logger[metadataKey: "service"] = "mirror"
        return logger
    }

    private func run(_ level: Logger.Level) async throws {
        try await withTestServer { server in
            server.serve("/good", .text("abc"))
            server.script("/good", [.status(503, headers: ["Retry-After": "0"])])
            server.script("/gone", [], afterwards: .status(404))
            var settings = Sample.quick
            settings.headers = [
                JobSettings.HeaderSetting(name: "Authorization", value: .literal("Bearer hunter2")),
                JobSettings.HeaderSetting(name: "X-Key", value: .environment("KEY")),
            ]
            settings.auth = .basic(user: .literal("me"), password: .literal("hunter2"))
            _ = try await withQueue(folder) {
                $0.logger = logger(level)
                $0.secrets = SecretSource(environment: { $0 == "KEY" ? "hunter2" : nil })
            } _: { queue in
                try await queue.complete([
                    Sample.download(
                        server.url("/good?token=hunter2"), to: folder.path("good"), id: "good", settings: settings),
                    Sample.download(
                        server.url("/gone?X-Amz-Signature=hunter2"), to: folder.path("gone"), id: "gone",
                        settings: settings),
                    Sample.download(server.url("/good"), to: folder.path("next"), id: "next", needs: ["gone"]),
                ])
            }
        }
    }

    @Test func theLoggerGetsLevelsAndMetadataWithoutSecrets() async throws {
        try await run(.debug)
        let lines = lines.state
        #expect(lines.allSatisfy { $0["batch"] == "b" && $0["service"] == "mirror" && $0.source == "TransferQueue" })
        func line(_ start: String, _ job: String? = nil) -> Line? {
            lines.first { $0.message.hasPrefix(start) && (job == nil || $0["job"] == job) }
        }
        #expect(line("batch started").map { $0.level == .info && $0["jobs"] == "3" } == true)
        let began = try #require(line("job started", "good"))
        #expect(began.level == .debug && began["direction"] == "download" && began["attempt"] == "1")
        #expect(began["url"]?.hasPrefix("http://127.0.0.1:") == true)
        let again = try #require(line("job is tried again", "good"))
        #expect(again.level == .info && again["status"] == "503" && again["code"] == "httpStatus")
        #expect(line("job finished", "good").map { $0.level == .debug && $0["bytes"] == "3" } == true)
        let failed = try #require(line("job failed", "gone"))
        #expect(failed.level == .warning && failed["status"] == "404" && failed["attempts"] == "1")
        #expect(failed["code"] == "httpStatus" && failed["host"]?.hasPrefix("127.0.0.1:") == true)
        #expect(line("job skipped", "next").map { $0.level == .warning && $0.message.contains("gone") } == true)
        let ended = try #require(line("batch finished"))
        #expect(ended.level == .info && ended["completed"] == "1" && ended["failed"] == "1" && ended["skipped"] == "1")
        for line in lines { #expect(!"\(line.message) \(line.metadata)".contains("hunter2"), "\(line)") }
    }

    @Test(arguments: [Logger.Level.warning, .error]) func aLevelIsRespected(_ level: Logger.Level) async throws {
        try await run(level)
        let lines = lines.state
        #expect(lines.map(\.level) == (level == .warning ? [.warning, .warning] : []), "\(lines)")
    }
}
