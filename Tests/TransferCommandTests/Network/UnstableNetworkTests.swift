import Foundation
import Testing
import TransferTestSupport

/// Many changes of the network at once, or repeated ones.
@Suite(.enabled(if: NetworkNamespaces.areWanted), .timeLimit(.minutes(2)))
struct UnstableNetworkTests {
    /// Returns the commands of a change: the client's address is replaced, or the link is removed and restored
    /// unchanged.
    private static func change(_ number: Int, from address: Int) -> (gone: [String], back: [String], address: Int) {
        let route = "route add default via 10.0.0.1"
        guard number % 2 == 0 else { return (["link set eth0 down"], ["link set eth0 up", route], address) }
        let next = address == 2 ? 3 : 2
        return (
            ["address del 10.0.0.\(address)/24 dev eth0"], ["address add 10.0.0.\(next)/24 dev eth0", route], next
        )
    }

    /// Twenty jobs run over a link that is removed and restored fifty times, in both ways.
    @Test func everyJobEndsVerifiedOverAFlappingLink() async throws {
        try await NetworkStage.with(limitRate: "1m", configure: { $0.allowsWriting = true }) { stage in
            // The rate of 2 MiB/s makes uploads take their time too.
            try await stage.client.run("tc qdisc add dev eth0 root tbf rate 16mbit burst 64kb latency 100ms")
            var jobs: [String] = []
            var sums: [String: String] = [:]
            for number in 0..<10 {
                let sum = try await stage.serve("d\(number)", mebibytes: 2)
                sums["d\(number)"] = sum
                jobs.append(
                    download(
                        stage.url("/d\(number)"), to: "in/d\(number)",
                        #""id": "d\#(number)", "checksum": "sha256:\#(sum)""#))
                sums["u\(number)"] = try await stage.random(stage.place.folder.path("u\(number)"), kibibytes: 500)
                jobs.append(upload("u\(number)", to: stage.url("/up/u\(number)"), #""id": "u\#(number)""#))
            }
            try stage.place.jobs(jobs, extra: "")
            let process = try stage.command("run", "jobs.json", "--json=progress", "-j", "20", "--per-host", "20")
                .start()
            try await process.event("job.progress")
            var address = 2
            for number in 0..<25 {
                let change = Self.change(number, from: address)
                address = change.address
                try await stage.client.ip(change.gone)
                try await stage.client.ip(change.back)
                // The loop waits for progress, or a little longer than the longest random delay.
                let before = try await stage.client.traffic("eth0").receivedBytes
                let deadline = ContinuousClock.now + .milliseconds(200)
                while ContinuousClock.now < deadline, process.isRunning,
                    try await stage.client.traffic("eth0").receivedBytes < before + (64 << 10)
                {}
            }
            let steady = ContinuousClock.now
            let result = try await process.result()
            printMeasured("finished after fifty changes of the link", since: steady)
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            for (name, sum) in sums {
                if name.hasPrefix("d") {
                    #expect(try await stage.place.folder.sha256("in/\(name)") == sum, "\(name)")
                } else {
                    let there = try await stage.peer.run("sha256sum '\(stage.server.root)/up/\(name)'")
                    #expect(there.hasPrefix(sum), "\(name)")
                }
            }
            await stage.server.stop()
            let log = try stage.server.accessLog()
            for number in 0..<10 {
                let complete = log.filter { $0.uri == "/up/u\(number)" && [201, 204].contains($0.status) }
                #expect(complete.count == 1, "u\(number): \(complete)")
            }
        }
    }

    /// The kernel drops messages that a listener does not read in time, and reports it: then the complete state is
    /// queried anew.
    @Test func aBurstOfRouteMessagesInterruptsNothingAndHidesNothing() async throws {
        try await NetworkStage.with(limitRate: "2m") { stage in
            let sum = try await stage.serve("large", mebibytes: 40)
            try stage.place.jobs([
                download(
                    stage.url("/large"), to: "large", #""segments": 1, "id": "large", "checksum": "sha256:\#(sum)""#)
            ])
            let process = try stage.startJobs()
            try await process.progress("large", atLeast: 1 << 20)
            let routes = (0..<5000).map { "100.64.\($0 / 250).\($0 % 250 + 1)/32 via 10.0.0.1 dev eth0" }
            try await stage.client.ip(routes.map { "route add \($0)" } + routes.map { "route del \($0)" })
            let reached = try await process.progress("large", atLeast: 5 << 20)
            #expect(try stage.server.accessLog().isEmpty, "the request was interrupted")
            #expect(reached["completed"]?.int ?? 0 < 40 << 20)
            // A change at the end of the burst is not lost: the address is removed after it.
            try await stage.client.ip(
                routes.map { "route add \($0)" } + [
                    "address del 10.0.0.2/24 dev eth0", "address add 10.0.0.3/24 dev eth0",
                    "route add default via 10.0.0.1",
                ])
            let routed = ContinuousClock.now
            _ = try await process.continued("large")
            printMeasured("bytes flow after a burst that ended with another address", since: routed)
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            let log = try await stage.logged(2)
            #expect(log.map(\.remoteAddress).sorted() == ["10.0.0.2", "10.0.0.3"] && log.askedTwice <= 1 << 20)
        }
    }

    /// The arrival of the body is unknown: the job ends or reports it, and never sends it again.
    @Test(arguments: [false, true]) func aPOSTOnItsWayIsNotSentTwice(_ losesItsAddress: Bool) async throws {
        let post = """
            location = /post {
                client_max_body_size 0;
                rewrite_by_lua_block { ngx.log(ngx.NOTICE, "a POST begins") }
                content_by_lua_block { ngx.req.read_body() ngx.say("taken") }
            }
            """
        let configure: (inout NginxServer.Options) -> Void = { options in
            options.usesLua = true
            options.server = post
        }
        try await NetworkStage.with(configure: configure) { stage in
            // The rate is 1 MiB/s.
            try await stage.client.run("tc qdisc add dev eth0 root tbf rate 8mbit burst 64kb latency 100ms")
            // The upload is long enough for a change that comes late on a busy machine.
            let mebibytes = losesItsAddress ? 20 : 3
            _ = try await stage.random(stage.place.folder.path("up"), kibibytes: mebibytes << 10)
            try stage.place.jobs([upload("up", to: stage.url("/post"), #""id": "up", "protocol": "post""#)])
            let process = try stage.startJobs()
            try await process.progress("up", atLeast: 1 << 20)
            if losesItsAddress {
                let change = Self.change(0, from: 2)
                try await stage.client.ip(change.gone + change.back)
            } else {
                try await stage.peer.ip("link set eth0 down")
                try await until("the client to see it") {
                    try await stage.client.run("cat /sys/class/net/eth0/carrier").hasPrefix("0")
                }
                try await stage.peer.ip("link set eth0 up")
            }
            let result = try await process.result()
            let end = try result.events().ends["up"]
            #expect(stage.server.errorLog().components(separatedBy: "a POST begins").count == 2, "\(result)")
            let taken = try stage.server.accessLog().filter { $0.status == 200 }
            if taken.isEmpty {
                #expect(end == "failed" && result.exitCode == 1, "\(result)")
            } else {
                #expect(end == "finished" && result.exitCode == 0 && taken.count == 1, "\(result)")
            }
            // The connection is lost for certain with a different address.
            #expect(taken.isEmpty == losesItsAddress, "\(result)")
        }
    }

    /// A PUT may be sent again.
    @Test func aPUTOnItsWayIsSentAgainOverTheNewAddress() async throws {
        try await NetworkStage.with(configure: { $0.allowsWriting = true }) { stage in
            try await stage.client.run("tc qdisc add dev eth0 root tbf rate 16mbit burst 64kb latency 100ms")
            let sum = try await stage.random(stage.place.folder.path("up"), kibibytes: 3 << 10)
            try stage.place.jobs([upload("up", to: stage.url("/up"), #""id": "up""#)])
            let process = try stage.startJobs()
            try await process.progress("up", atLeast: 1 << 20)
            let change = Self.change(0, from: 2)
            try await stage.client.ip(change.gone + change.back)
            let result = try await process.result()
            #expect(result.exitCode == 0, "\(result)")
            try expectNoAttemptSpent(result)
            #expect(try await stage.peer.run("sha256sum '\(stage.server.root)/up'").hasPrefix(sum))
            #expect(try stage.server.accessLog().filter { $0.status < 300 }.map(\.remoteAddress) == ["10.0.0.3"])
        }
    }
}
