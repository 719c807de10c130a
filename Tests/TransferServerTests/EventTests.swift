import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Follows the events of a service, as clients do.
@Suite(.timeLimit(.minutes(2))) struct EventTests {
    private func follow(_ place: ServedPlace, after cursor: String? = nil, _ query: String = "") throws -> ChildProcess
    {
        var arguments = [
            "-sSN", "--noproxy", "*", "-H", "Authorization: Bearer \(place.secret)",
            place.url + "/api/v1/events" + query,
        ]
        if let cursor { arguments += ["-H", "Last-Event-ID: \(cursor)"] }
        return try ChildProcess.start(
            ChildProcess.Command("/usr/bin/curl", arguments, environment: ["PATH": "/usr/bin:/bin"]))
    }

    @Test func endsAreReportedAtOnceWithTheirCursors() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            try await withService { place in
                let stream = try follow(place)
                _ = try await stream.line(.standardOutput) { $0 == "event: hello" }
                _ = try await place.ask("/api/v1/jobs", json: job(server.url("/a"), to: "a"))
                _ = try await stream.line(.standardOutput) { $0 == "id: 1" }
                let data = try await stream.line(.standardOutput) {
                    $0.contains("job.finished") && $0.hasPrefix("data:")
                }
                #expect(data.contains(#""id":"a""#) && data.contains(#""cursor":"1""#))
                stream.kill(SIGKILL)
            }
        }
    }

    @Test func nothingIsMissedOverAReconnect() async throws {
        try await withTestServer { server in
            let names = (0..<300).map { "f\($0)" }
            for name in names { server.serve("/\(name)", .random(seed: 1, count: 10)) }
            try await withService { place in
                let jobs = names.map { job(server.url("/\($0)"), to: $0) }.joined(separator: ", ")
                let stream = try follow(place)
                _ = try await stream.line(.standardOutput) { $0 == "event: hello" }
                _ = try await place.ask("/api/v1/jobs", json: "[\(jobs)]")
                _ = try await stream.line(.standardOutput) { $0 == "id: 100" }
                stream.kill(SIGKILL)
                let again = try follow(place, after: "100", "?types=job.")
                var cursors: [Int] = []
                for try await line in again.lines(.standardOutput) where line.hasPrefix("id: ") {
                    cursors.append(Int(line.dropFirst(4)) ?? 0)
                    if cursors.last == 300 { break }
                }
                #expect(cursors == Array(101...300))
                again.kill(SIGKILL)
            }
        }
    }

    @Test func aCursorOfAnotherQueueIsReset() async throws {
        try await withService { place in
            let stream = try follow(place, after: "12345")
            _ = try await stream.line(.standardOutput) { $0 == "event: reset" }
            stream.kill(SIGKILL)
        }
    }

    @Test func streamsEndWithTheService() async throws {
        let place = try await ServedPlace.start()
        let stream = try follow(place)
        _ = try await stream.line(.standardOutput) { $0 == "event: hello" }
        let result = try await place.stop()
        #expect(result.exitCode == 0 && result.duration < .seconds(30))
        #expect(try await stream.result().exitCode == 0, "the stream was finished, not broken off")
    }
}
