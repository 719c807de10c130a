import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Validation of stored answers", .timeLimit(.minutes(1)))
struct CacheValidationTests {
    private static let stored: HeaderFields = ["Cache-Control": "max-age=60", "ETag": "\"1\"", "X-Is": "old"]

    @Test func aConfirmationBringsNewFieldsAndANewFreshness() async throws {
        // §3.2, §4.3.4
        try await withTestServer { server async throws in
            let client = CachingClient()
            let resource = server.count("/r", client.clock, Self.stored)
            await client.ask(server.url("/r"))
            client.clock.advance(61)
            resource.change {
                $0.confirmation = ["X-Is": "new", "Cache-Control": "max-age=600", "Content-Length": "99", "Age": "5"]
            }
            let confirmed = await client.ask(server.url("/r"))
            #expect(confirmed.status == 200 && confirmed.text == "1")
            #expect(confirmed.field("X-Is") == "new" && confirmed.field("Content-Length") == "1")
            client.clock.advance(500)
            let reused = await client.ask(server.url("/r"))
            #expect(reused.field("X-Is") == "new" && reused.field("Age") == "505")
            #expect(server.count(to: "/r") == 2)
            client.clock.advance(100)
            await client.ask(server.url("/r"))
            #expect(server.count(to: "/r") == 3)
        }
    }

    @Test func aNewAnswerTakesThePlaceOfTheOld() async throws {
        // §4.3.3
        try await withTestServer { server async throws in
            let client = CachingClient()
            let resource = server.count("/r", client.clock, Self.stored)
            await client.ask(server.url("/r"))
            client.clock.advance(61)
            resource.change { $0.fields["ETag"] = "\"2\"" }
            #expect(await client.ask(server.url("/r")).text == "2")
            #expect(server.requests.last?.headers["If-None-Match"] == "\"1\"")
            #expect(await client.ask(server.url("/r")).text == "2")
            #expect(server.count(to: "/r") == 2)
        }
    }

    @Test func bothValidatorsAreShown() async throws {
        // §4.3.1
        try await withTestServer { server async throws in
            let client = CachingClient()
            let date = client.clock.date(-100)
            server.count("/r", client.clock, ["Cache-Control": "no-cache", "ETag": "W/\"1\"", "Last-Modified": date])
            await client.ask(server.url("/r"))
            #expect(await client.ask(server.url("/r")).text == "1")
            #expect(server.requests.last?.headers["If-None-Match"] == "W/\"1\"")
            #expect(server.requests.last?.headers["If-Modified-Since"] == date)
        }
    }

    @Test func aConfirmationOfAnotherVersionIsNoneAndTheAnswerIsAskedForAnew() async throws {
        // §4.3.4
        try await withTestServer { server async throws in
            let client = CachingClient()
            let resource = server.count("/r", client.clock, Self.stored)
            await client.ask(server.url("/r"))
            client.clock.advance(61)
            resource.change { $0.confirmation = ["ETag": "\"other\""] }
            let answer = await client.ask(server.url("/r"))
            #expect(answer.status == 200 && answer.text == "3")
            #expect(server.requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\"", nil])
            #expect(await client.ask(server.url("/r")).text == "3")
        }
    }

    @Test func aWeakTagConfirmsAStrongOne() async throws {
        // RFC 9110 §13.1.2
        try await withTestServer { server async throws in
            let client = CachingClient()
            let resource = server.count("/r", client.clock, Self.stored)
            await client.ask(server.url("/r"))
            client.clock.advance(61)
            resource.change { $0.confirmation = ["ETag": "W/\"1\""] }
            #expect(await client.ask(server.url("/r")).text == "1")
        }
    }

    @Test func aConfirmationThatForbidsStoringEndsIt() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            let resource = server.count("/r", client.clock, Self.stored)
            await client.ask(server.url("/r"))
            client.clock.advance(61)
            resource.change { $0.confirmation = ["Cache-Control": "no-store"] }
            #expect(await client.ask(server.url("/r")).text == "1")
            #expect(await client.ask(server.url("/r")).text == "3")
            #expect(server.requests.last?.headers["If-None-Match"] == nil)
        }
    }

    @Test func a304ToAConditionOfTheProgramIsThePrograms() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, Self.stored)
            await client.ask(server.url("/r"))
            let answer = await client.ask(server.url("/r"), .get, ["If-None-Match": "\"1\""])
            #expect(answer.status == 304 && answer.text.isEmpty)
        }
    }

    // MARK: Errors (RFC 5861 §4)

    @Test(arguments: [500, 502, 503, 504])
    func aStaleAnswerReplacesAServerError(_ status: Int) async throws {
        try await withTestServer { server async throws in
            let monitor = EventRecorder()
            let client = CachingClient(monitors: [monitor])
            let resource = server.count("/r", client.clock, ["Cache-Control": "max-age=60, stale-if-error=100"])
            await client.ask(server.url("/r"))
            client.clock.advance(160)
            resource.change { $0.status = status }
            let stale = await client.ask(server.url("/r"))
            #expect(stale.status == 200 && stale.text == "1" && stale.field("Age") == "160")
            #expect(stale.fetches == [.networkLoad, .localCache])
            client.clock.advance(1)
            let error = await client.ask(server.url("/r"))
            #expect(error.status == status && error.text == "3")
            monitor.queue.sync {}
            #expect(monitor.all("didReceiveResponse").count == 3)
        }
    }

    @Test func aStaleAnswerReplacesAnUnreachableServer() async throws {
        let clock = CacheClock()
        let client = CachingClient(clock: clock)
        let url = try await withTestServer { server async throws in
            server.count("/r", clock, ["Cache-Control": "max-age=60, stale-if-error=100"])
            server.count("/strict", clock, ["Cache-Control": "max-age=60, stale-if-error=100, must-revalidate"])
            server.count("/plain", clock, ["Cache-Control": "max-age=60"])
            for path in ["/r", "/strict", "/plain"] { await client.ask(server.url(path)) }
            return server.url("")
        }
        clock.advance(61)
        #expect(await client.ask(url + "/r").text == "1")
        #expect(await client.ask(url + "/strict").error != nil)
        #expect(await client.ask(url + "/plain").error != nil)
        #expect(await client.ask(url + "/plain", .get, ["Cache-Control": "stale-if-error=100"]).text == "1")
    }

    @Test func otherStatusesAreTheAnswer() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            let resource = server.count("/r", client.clock, ["Cache-Control": "max-age=60, stale-if-error=100"])
            await client.ask(server.url("/r"))
            client.clock.advance(61)
            resource.change { $0.status = 404 }
            let answer = await client.ask(server.url("/r"))
            #expect(answer.status == 404 && answer.text == "2")
        }
    }

    @Test func aCancelledRequestGetsNoStaleAnswer() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "max-age=60, stale-if-error=100"])
            await client.ask(server.url("/r"))
            client.clock.advance(61)
            server.script("/r", [.holdHead])
            let request = client.session.request(server.url("/r"))
            async let response = request.response()
            try await server.waitForHeld(1)
            request.cancel()
            let error = await response.error
            #expect(error?.isExplicitlyCancelledError == true)
        }
    }
}
