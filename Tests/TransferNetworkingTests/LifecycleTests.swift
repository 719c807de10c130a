import Foundation
import Testing
import TransferTestServer

@testable import TransferNetworking

@Suite("Starting, suspending and cancelling")
struct LifecycleTests {
    @Test func nothingIsSentBeforeAHandlerIsAdded() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let request = makeSession().request(server.url("/x"))
            #expect(request.isInitialized)
            #expect(server.requests.isEmpty)
            _ = await request.response()
            #expect(request.isFinished)
        }
    }

    @Test func aSessionCanLeaveTheStartToTheProgram() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let request = makeSession(starts: false).request(server.url("/x"))
            async let response = request.serializingString().value
            request.resume()
            #expect(try await response == "x")
        }
    }

    @Test func aRequestSuspendedBeforeItsStartWaitsForResume() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let request = makeSession().request(server.url("/x")).suspend()
            let calls = Calls<String?>()
            request.responseString(queue: testQueue) { calls.add($0.value) }
            #expect(request.isSuspended)
            request.resume()
            #expect(await calls.first() == "x")
        }
    }

    @Test func aTransferSuspendedHalfWayResumesWhereItWas() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .random(seed: 3, count: 300_000))
            server.script("/x", [.stall(after: 1000)])
            let request = makeSession().request(server.url("/x"))
            let task = request.serializingData()
            try await server.waitForHeld(1)
            request.suspend()
            #expect(request.isSuspended)
            server.release()
            request.resume()
            #expect(try await task.value == Data(Content.random(seed: 3, count: 300_000).bytes()))
            #expect(server.requests.count == 1)
        }
    }

    @Test func aHandlerAddedAfterTheEndIsCalledWithoutAnotherRequest() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let request = makeSession().request(server.url("/x"))
            #expect(try await request.serializingString().value == "x")
            #expect(try await request.serializingData().value == Data("x".utf8))
            #expect(server.requests.count == 1)
            #expect(request.isFinished)
        }
    }

    @Test func handlersAreCalledInTheOrderTheyWereAdded() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let calls = Calls<Int>()
            let request = makeSession(starts: false).request(server.url("/x"))
            for number in 1...3 { request.response(queue: testQueue) { _ in calls.add(number) } }
            request.resume()
            _ = await calls.first { $0 == 3 }
            #expect(calls.all == [1, 2, 3])
        }
    }

    @Test func aRequestCancelledBeforeItsStartSendsNothing() async throws {
        try await withTestServer { server async throws in
            let request = makeSession().request(server.url("/x")).cancel()
            #expect(request.isCancelled)
            #expect(request.error?.isExplicitlyCancelledError == true)
            let response = await request.response()
            #expect(response.error?.isExplicitlyCancelledError == true)
            #expect(server.requests.isEmpty)
            request.resume()
            #expect(request.isCancelled)
        }
    }

    @Test func cancellingStopsTheTransferAndCallsEveryHandler() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("never"))
            server.script("/x", [.holdHead])
            let request = makeSession().request(server.url("/x"))
            let first = request.serializingData()
            let second = request.serializingString()
            try await server.waitForHeld(1)
            request.cancel()
            #expect(await first.response.error?.isExplicitlyCancelledError == true)
            #expect(await second.response.error?.isExplicitlyCancelledError == true)
            try await server.waitForConnections(closed: 1)
        }
    }

    @Test func cancellingWhileSuspendedEndsIt() async throws {
        try await withTestServer { server async throws in
            server.script("/x", [.holdHead])
            let request = makeSession().request(server.url("/x"))
            let task = request.serializingData()
            try await server.waitForHeld(1)
            request.suspend().cancel()
            #expect(await task.response.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test func cancellingTheTaskLeavesTheRequestAloneOnlyWhenAsked() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.holdHead, .holdHead])
            let session = makeSession()
            let kept = session.request(server.url("/x"))
            let dropped = session.request(server.url("/x"))
            let patient = Task { await kept.serializingData(automaticallyCancelling: false).response }
            let hasty = Task { await dropped.serializingData(automaticallyCancelling: true).response }
            try await server.waitForHeld(2)
            patient.cancel()
            hasty.cancel()
            #expect(await hasty.value.error?.isExplicitlyCancelledError == true)
            #expect(!kept.isCancelled)
            server.release()
            #expect(await patient.value.value == Data("x".utf8))
        }
    }

    @Test func aRequestThatIsOverIsFreed() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            weak var gone: DataRequest?
            let freed = Calls<Void>()
            let session = makeSession()
            do {
                let request = session.request(server.url("/x"))
                gone = request
                _ = await request.response()
            }
            // The request's last work runs before this.
            session.rootQueue.async { testQueue.async { freed.add(()) } }
            await freed.first()
            // The loop that ran the request releases it at a time of its own, so the test yields to the scheduler.
            let limit = ContinuousClock.now + .seconds(5)
            while gone != nil, .now < limit { await Task.yield() }
            #expect(gone == nil)
        }
    }

    @Test func manyRequestsAtOnceAllEnd() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let session = makeSession()
            let sum = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        await session.request(server.url("/x")).serializingData().response.value?.count ?? 0
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(sum == 200)
        }
    }
}
