import Foundation
import Testing
import TransferQueue
import TransferTestSupport

@testable import TransferServer

/// The bounds on what one client can take, and the article that lists them with their tests.
@Suite(.timeLimit(.minutes(2))) struct ServiceLimitsTests {
    private static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private func article() throws -> String {
        try String(
            contentsOf: Self.root.appendingPathComponent("Sources/TransferKit/TransferKit.docc/ServiceLimits.md"),
            encoding: .utf8)
    }

    @Test func theDefaultsAreThoseOfTheArticle() throws {
        let (limits, text) = (ServerLimits(), try article())
        let bounds = [
            "| \(limits.connections) at once |", "| \(limits.requestTime.components.seconds) s |",
            "| \(limits.headBytes >> 10) KiB |", "| \(limits.strangerBytes >> 10) KiB |",
            "| \(limits.callBytes >> 20) MiB |", "| \(WebSocketUpgrade.frameBytes >> 20) MiB |",
            "that wait | \(WebSocketUpgrade.waitingFrames) |", "| \(limits.bodyBytes >> 20) MiB; ",
            "| \(limits.eventStreams) |",
        ]
        for bound in bounds { #expect(text.contains(bound), "\(bound)") }
        #expect(limits.jobs == 10_000 && text.contains("| 10,000 |"))
    }

    @Test func everyTestOfTheArticleExists() throws {
        let files = FileManager.default.enumerator(atPath: Self.root.appendingPathComponent("Tests").path)
        var sources: [String] = []
        while let path = files?.nextObject() as? String {
            guard path.hasSuffix("Tests.swift") else { continue }
            sources.append(
                try String(contentsOf: Self.root.appendingPathComponent("Tests/\(path)"), encoding: .utf8))
        }
        let named = try article().matches(of: #/`(\w+Tests)\.(\w+)`/#).map { ($0.output.1, $0.output.2) }
        #expect(named.count > 10)
        for (suite, test) in named {
            let isThere = sources.contains { $0.contains("struct \(suite)") && $0.contains("func \(test)(") }
            #expect(isThere, "\(suite).\(test)")
        }
    }

    @Test func followersOfEventsAreBounded() {
        var limits = ServerLimits()
        limits.eventStreams = 2
        let feed = EventFeed(limits)
        var seats = [feed.join(), feed.join()]
        #expect(seats.allSatisfy { $0 != nil } && feed.join() == nil)
        seats.removeLast()
        #expect(feed.join() != nil, "a follower that leaves makes room")
    }

    @Test func aRequestHasABoundedNumberOfJobs() async throws {
        try await withService { place in
            func submit(_ count: Int) async throws -> ServedPlace.Answer {
                let jobs = (0..<count).map { job("http://192.0.2.1/x", to: "f\($0)") }
                return try await place.ask("/api/v1/jobs?paused=1", json: "[\(jobs.joined(separator: ", "))]")
            }
            let refused = try await submit(10_001)
            #expect(refused.status == 413 && refused.text.contains("10000 jobs"), "\(refused.text)")
            #expect(try await submit(3).status == 201)
        }
    }

    @Test func theURLsOfAJobAreBounded() async throws {
        try await withService { place in
            func submit(_ urls: [String]) async throws -> ServedPlace.Answer {
                let list = urls.map { "\"\($0)\"" }.joined(separator: ", ")
                return try await place.ask(
                    "/api/v1/jobs?paused=1", json: "{\"download\": [\(list)], \"to\": \"f\(urls[0].count)\"}")
            }
            let most = OutsideRules.mostURLBytes
            let url = "http://192.0.2.1/" + String(repeating: "a", count: most.one - 17)
            #expect(try await submit([url]).status == 201)
            for urls in [[url + "a"], (0...16).map { "\(url.dropLast(2))\(10 + $0)" }] {
                let refused = try await submit(urls)
                #expect(refused.status == 403 && refused.text.contains("urlTooLong"), "\(refused.text)")
            }
        }
    }
}
