import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The limits on requests to servers that all workers of a queue keep together.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(3))) struct FleetRateTests {
    @Test func workersTogetherKeepTheRateOfAnOrigin() async throws {
        let server = try await NginxServer.start()
        for number in 0..<60 {
            try Data("\(number)".utf8).write(to: URL(fileURLWithPath: "\(server.root)/\(number)"))
        }
        let fleet = try await FleetPlace()
        try fleet.place.jobs((0..<60).map { download(server.url("/\($0)"), to: "in/\($0)") })
        let section = #""\#(server.url(""))": {"limits": {"requestRate": "5/s"}}"#
        try fleet.folder.write(#"{"version": 1, "origins": {\#(section)}}"#, to: "config.json")
        try await fleet.bring()
        let one = try fleet.worker("a", "--config", "config.json")
        let other = try fleet.worker("b", "--config", "config.json")
        #expect(try await fleet.run("wait", "batch").exitCode == 0)
        try await fleet.stop(one, other)
        await server.stop()
        let times = try server.accessLog().map(\.time).sorted()
        #expect(times.count == 60)
        for (index, time) in times.enumerated() where index + 5 < times.count {
            #expect(times[index + 5] - time >= 1, "six in the second from \(time) on")
        }
        #expect((times.last ?? 0) - (times.first ?? 0) < 20, "none waits longer than it has to")
        for name in ["a", "b"] { #expect(try fleet.folder.files(below: "\(name)/in").count >= 10, "\(name)") }
    }

    @Test func workersFindTogetherHowManyTransfersAServerTakes() async throws {
        var options = NginxServer.Options()
        options.http = "limit_conn_zone $server_name zone=all:1m;"
        options.location = "limit_conn all 14; limit_conn_status 429;"
        // Each file takes half a second.
        options.limitRate = "20k"
        let server = try await NginxServer.start(options: options)
        for number in 0..<120 {
            try Data(repeating: 1, count: 30_000).write(to: URL(fileURLWithPath: "\(server.root)/\(number)"))
        }
        let fleet = try await FleetPlace()
        try fleet.place.jobs((0..<120).map { download(server.url("/\($0)"), to: "in/\($0)") })
        let (one, other) = (try fleet.worker("a", "-j", "16"), try fleet.worker("b", "-j", "16"))
        try await one.begins()
        try await other.begins()
        try await fleet.bring()
        let waited = try await fleet.run("wait", "batch")
        #expect(waited.exitCode == 0, "\(waited)")
        try await fleet.stop(one, other)
        await server.stop()
        let log = try server.accessLog().sorted { $0.time < $1.time }
        // The first ten requests are served. Twenty follow where those pay, and some of these are refused, once.
        #expect(log.prefix(10).allSatisfy { $0.status == 200 }, "\(log.prefix(10))")
        let refused = log.count { $0.status == 429 }
        #expect(refused <= 24, "\(refused)")
        #expect(log.count { $0.status == 200 } == 120)
        for name in ["a", "b"] { #expect(try fleet.folder.files(below: "\(name)/in").count >= 20, "\(name)") }
    }

    @Test(arguments: [429, 503]) func aPauseRequestedFromOneWorkerIsKeptByTheOther(status: Int) async throws {
        try await withTestServer { server in
            let arrivals = OriginPauseTests.Arrivals()
            server.handle("GET", "/*") { request in
                arrivals.add(request.path)
                return arrivals.all.count == 1
                    ? Response(status: status, headers: ["Retry-After": "4"]) : Response(body: .text(request.path))
            }
            let fleet = try await FleetPlace()
            let (one, other) = (try fleet.worker("a", "-j", "1"), try fleet.worker("b", "-j", "1"))
            try await one.begins()
            try await other.begins()
            try fleet.place.jobs([download(server.url("/busy"), to: "in/busy")])
            try await fleet.bring()
            try await server.waitForAnswers(1)
            // Each worker has some of the jobs; the server asked one worker to pause.
            try fleet.place.jobs((0..<8).map { download(server.url("/\($0)"), to: "in/\($0)") }, name: "more")
            try await fleet.bring()
            #expect(try await fleet.run("wait", "more").exitCode == 0)
            #expect(try await fleet.run("wait", "batch").exitCode == 0)
            try await fleet.stop(one, other)
            let times = arrivals.all.map(\.time)
            #expect(times.count == 10)
            #expect(times[1] - times[0] > .seconds(3.9), "\(times[1] - times[0])")
        }
    }
}
