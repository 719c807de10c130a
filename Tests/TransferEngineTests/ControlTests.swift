import Glibc
import Synchronization
import Testing
import TransferCore
import TransferEventLoop
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

@Suite(.timeLimit(.minutes(1))) struct ControlTests {
    static let content = Content.random(seed: 1, count: 700_000)
    static let served = ServedFile(content, etag: "\"a\"")

    private func expectCancelled(_ attempt: Bench.Attempt) async throws -> ExchangeOutcome {
        attempt.handle.cancel()
        attempt.handle.cancel()
        let outcome = try await attempt.end()
        attempt.handle.cancel()
        attempt.handle.suspend()
        attempt.handle.resume()
        #expect(outcome.error?.code == .cancelled)
        #expect(attempt.log.ends == 1)
        return outcome
    }

    @Test func cancelsBeforeTheLoopHasStartedIt() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", Self.served)
            bench.server.script("/x", [], afterwards: .holdHead)
            for _ in 0..<50 { _ = try await expectCancelled(try bench.start()) }
        }
    }

    @Test func cancelsWhileTheServerThinks() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", Self.served)
            bench.server.script("/x", [.holdHead])
            let attempt = try bench.start()
            try await bench.server.waitForHeld(1)
            #expect(try await expectCancelled(attempt).position == 0)
            try await bench.server.waitForConnections(closed: 1)
            #expect(try await bench.download().outcome.error == nil)
        }
    }

    @Test func cancelsInTheBodyAndKeepsWhatCame() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", Self.served)
            bench.server.script("/x", [.stall(after: 300_000)])
            let attempt = try bench.start()
            await eventually { attempt.meter.position == 300_000 }
            let outcome = try await expectCancelled(attempt)
            #expect(outcome.position == 300_000 && outcome.resumeData?.validator?.etag == "\"a\"")
            #expect(try await bench.download(resume: outcome.resumePoint).outcome.error == nil)
            #expect(try Self.content.firstDifference(fromFileAt: bench.file) == nil)
        }
    }

    @Test func cancelsWhileSending() async throws {
        try await Bench.with { bench async throws in
            bench.server.acceptUploads("/in")
            bench.server.script("/in", [.stallUpload(after: 1000)])
            let path = try bench.folder.write(count: 8_000_000, seed: 1, to: "source")
            let attempt = bench.send("PUT", "/in", body: .file(try SourceFile(path)))
            try await bench.server.waitForHeld(1)
            #expect(try await expectCancelled(attempt).sent < 8_000_000)
            bench.server.release()
            try await bench.server.waitForConnections(closed: 1)
        }
    }

    /// Otherwise the kernel would continue to send its buffer, and the server would have a file whose upload was
    /// cancelled.
    @Test func aBrokenOffUploadDeliversNothingMore() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            bench.server.script("/in", [.stallUpload(after: 1000)])
            // The body is larger than the receive buffer of the server and smaller than both buffers together.
            bench.server.limitReceiveBuffer(4096)
            let path = try bench.folder.write(count: 12_000, seed: 1, to: "source")
            let attempt = bench.send("PUT", "/in", body: .file(try SourceFile(path)))
            try await bench.server.waitForHeld(1)
            await eventually { attempt.meter.sent == 12_000 }
            #expect(try await expectCancelled(attempt).sent == 12_000)
            bench.server.release()
            try await bench.server.waitForConnections(closed: 1)
            #expect(sink.uploads.allSatisfy { !$0.isComplete })
        }
    }

    @Test func cancelsFromWithinItsOwnEvents() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", Self.served)
            bench.server.script("/x", [.stall(after: 1000)])
            let log = ExchangeLog()
            let box = HandleBox()
            let part = try PartFile.open(bench.file)
            let (url, workers) = (bench.server.url("/x"), bench.engine.workers)
            let handle = bench.engine.start(
                ExchangeRequest(url: url, intent: .representation(nil)),
                makeSink: {
                    FileSink(part, offset: 0, url: url, algorithm: nil, workers: workers, state: FileSinkState())
                },
                events: { event in
                    log.receive(event)
                    if case .responded = event { box.onHandle { $0.cancel() } }
                })
            box.set(handle)
            #expect(await log.outcome.error?.code == .cancelled)
            #expect(log.ends == 1)
        }
    }

    @Test func cancelsWhileANameIsLookedUp() async throws {
        let gate = Gate()
        let resolver = HostResolver(threads: 1) { _ in
            gate.pass()
            return .success(["127.0.0.1"])
        }
        let loop = try EventLoop(name: "test")
        let pool = try CurlPool(
            loop: loop, resolver: resolver, bodyThreads: WorkerPool(name: "body", threads: 1),
            trustThreads: WorkerPool(name: "trust", threads: 1))
        let logs = (0..<5).map { _ in ExchangeLog() }
        for (index, log) in logs.enumerated() {
            let start = ExchangeStart(
                id: ExchangeID(number: UInt64(index)), request: ExchangeRequest(url: "http://name.example/"),
                meter: ExchangeMeter(), limiters: [],
                makeSink: { AnswerSink(limit: 1) }, events: log.receive)
            await pool.begin(start)
        }
        for index in 0..<4 {
            await pool.cancel(ExchangeID(number: UInt64(index)), TransferError(.cancelled, "cancelled"))
        }
        for log in logs.dropLast() { #expect(await log.outcome.error?.code == .cancelled) }
        // The last exchange ends with the pool, and the answer to its look-up comes after that.
        await pool.shutDown()
        #expect(await logs[4].outcome.error?.code == .cancelled)
        gate.letThrough()
        // A round trip through the worker of the resolver and the loop, after which the loop has seen the late answer.
        for _ in 0..<20 { await pool.cancel(ExchangeID(number: 99), TransferError(.cancelled, "nobody")) }
        #expect(logs.map(\.ends) == [1, 1, 1, 1, 1])
        #expect(pool.load.load(ordering: .relaxed) == -5, "five ended that no engine counted in")
        loop.execute { loop.stop() }
    }

    @Test func namesAreLookedUpOnceAndFailuresAreTheOrigins() async throws {
        try await withTestServer { server in
            server.serve("/x", .text("hello"))
            let box = Counter()
            let resolver = HostResolver(threads: 2) { host in
                box.add()
                return host == "good.example"
                    ? .success(["127.0.0.1"])
                    : .failure(TransferError(.cannotResolveHost, "no", isTransient: true, scope: .origin))
            }
            let loop = try EventLoop(name: "test")
            let pool = try CurlPool(
                loop: loop, resolver: resolver, bodyThreads: WorkerPool(name: "body", threads: 1),
                trustThreads: WorkerPool(name: "trust", threads: 1))
            for (index, host) in ["good.example", "good.example", "bad.example"].enumerated() {
                let log = ExchangeLog()
                await pool.begin(
                    ExchangeStart(
                        id: ExchangeID(number: UInt64(index)),
                        request: ExchangeRequest(url: "http://\(host):\(server.port)/x"),
                        meter: ExchangeMeter(), limiters: [], makeSink: { AnswerSink(limit: 10) }, events: log.receive))
                let outcome = await log.outcome
                if host == "bad.example" {
                    #expect(outcome.error?.code == .cannotResolveHost && outcome.error?.scope == .origin)
                } else {
                    #expect(outcome.answer == Array("hello".utf8))
                }
            }
            #expect(box.value == 2)
            await pool.shutDown()
            loop.execute { loop.stop() }
        }
    }

    @Test func aSuspendedDownloadPausesAndResumes() async throws {
        try await Bench.with { bench async throws in
            let content = Content.random(seed: 6, count: 30_000_000)
            bench.server.serve("/x", ServedFile(content, etag: "\"a\""))
            bench.server.script("/x", [.stall(after: 1000)])
            let attempt = try bench.start()
            await eventually { attempt.meter.position == 1000 }
            attempt.handle.suspend()
            // A round trip through the loop, after which the command has been carried out.
            _ = try await bench.send("GET", "/none").end()
            bench.server.release("/x")
            for _ in 0..<20 { _ = try await bench.send("GET", "/none").end() }
            #expect(attempt.meter.position == 1000 && attempt.log.ends == 0)
            attempt.handle.resume()
            #expect(try await attempt.end().error == nil)
            #expect(try content.firstDifference(fromFileAt: bench.file) == nil)
        }
    }

    @Test func aDownloadSuspendedBeforeItsStartWaits() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", Self.served)
            // Another task holds up the loop, so that both commands are queued before either runs.
            let gate = Gate()
            bench.engine.start(
                ExchangeRequest(url: bench.server.url("/none")),
                makeSink: {
                    gate.pass()
                    return AnswerSink(limit: 1)
                }, events: { _ in })
            let attempt = try bench.start()
            attempt.handle.suspend()
            gate.letThrough()
            try await bench.server.waitForRequests(1, to: "/x")
            for _ in 0..<20 { _ = try await bench.send("GET", "/none").end() }
            #expect(attempt.meter.position == 0 && attempt.log.ends == 0)
            attempt.handle.resume()
            #expect(try await attempt.end().error == nil)
            #expect(try Self.content.firstDifference(fromFileAt: bench.file) == nil)
        }
    }

    @Test func aSuspendedDownloadCanBeCancelledAndShutDown() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", Self.served)
            bench.server.script("/x", [], afterwards: .stall(after: 1000))
            let attempt = try bench.start()
            await attempt.log.untilResponded()
            attempt.handle.suspend()
            _ = try await expectCancelled(attempt)
            let other = try bench.start(to: bench.folder.path("y"))
            await other.log.untilResponded()
            other.handle.suspend()
            bench.engine.shutDown()
            #expect(await other.log.outcome.error?.code == .cancelled)
        }
    }

    @Test func theRateLimitBoundsDownloads() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", Self.served)
            let start = MonotonicTime.now
            let limiter = RateLimiter(rate: 1_000_000)
            let attempts = try (0..<2).map { try bench.start(to: bench.folder.path("\($0)"), limiters: [limiter]) }
            for (index, attempt) in attempts.enumerated() {
                #expect(try await attempt.end().error == nil)
                #expect(try Self.content.firstDifference(fromFileAt: bench.folder.path("\(index)")) == nil)
            }
            // 1.4 MB minus the quarter of a second that may be sent at once. The machine may be slower, but never
            // faster.
            #expect((MonotonicTime.now - start).inSeconds >= 1.0)
        }
    }

    @Test func theRateLimitBoundsUploads() async throws {
        try await Bench.with { bench async throws in
            let sink = bench.server.acceptUploads("/in")
            let path = try bench.folder.write(count: 700_000, seed: 1, to: "source")
            let start = MonotonicTime.now
            let outcome = try await bench.send(
                "PUT", "/in", body: .file(try SourceFile(path)), limiters: [RateLimiter(rate: 1_000_000)]
            ).end()
            #expect(outcome.head?.status == 201)
            #expect(sink.uploads.last?.bytes == Array(try bench.folder.data("source")))
            #expect((MonotonicTime.now - start).inSeconds >= 0.35)
        }
    }

    @Test func theBucketHoldsAQuarterOfASecond() {
        let start = MonotonicTime(nanoseconds: 0)
        let limiter = RateLimiter(rate: 1000, now: start)
        #expect(limiter.take(250, now: start) == nil)
        #expect(limiter.take(100, now: start).map { $0 - start } == .milliseconds(101))
        #expect(limiter.take(0, now: start + .milliseconds(100)) == nil)
        // After any idle time, no more than the capacity of the bucket is sent at once.
        #expect(limiter.take(250, now: start + .seconds(100)) == nil)
        #expect(limiter.take(1, now: start + .seconds(100)) != nil)
        let slowest = RateLimiter(rate: 0, now: start)
        #expect(slowest.take(1, now: start) == nil)
        #expect(slowest.take(1, now: start).map { $0 - start } == .milliseconds(1001))
    }

    @Test func aChangedRateAppliesFromThenOn() {
        let start = MonotonicTime(nanoseconds: 0)
        let limiter = RateLimiter(rate: 1000, now: start)
        #expect(limiter.take(1250, now: start).map { $0 - start } == .milliseconds(1001))
        limiter.setRate(10_000, now: start)
        #expect(limiter.take(0, now: start).map { $0 - start } == .milliseconds(101))
        limiter.setRate(nil, now: start + .milliseconds(1))
        #expect(limiter.take(1 << 40, now: start + .milliseconds(2)) == nil)
        // An unused allowance is not carried over to the next bound.
        limiter.setRate(1000, now: start + .seconds(10))
        #expect(limiter.take(251, now: start + .seconds(10)) != nil)
    }

    @Test func fieldsThatIdentifyTheUserStayWithTheirOrigin() async throws {
        try await withTestServer { other in
            try await Bench.with { bench async throws in
                other.serve("/y", Self.served)
                bench.server.script("/x", [], afterwards: .redirect(to: other.url("/y")))
                bench.server.script("/in", [.redirect(to: other.url("/in"), status: 307)])
                other.acceptUploads("/in")
                let headers = [
                    HeaderField("Authorization", "Bearer s"), HeaderField("Cookie", "s=1"),
                    HeaderField("X-Api-Key", "s"),
                    HeaderField("User-Agent", "t"), HeaderField("Accept", "x/y"),
                ]
                let (outcome, _) = try await bench.download(headers: headers) {
                    $0.credentials = .password(user: "u", password: "p")
                }
                #expect(outcome.error == nil && outcome.finalURL == other.url("/y") && outcome.metrics.redirects == 1)
                #expect(bench.server.requests.first?.headers["Cookie"] == "s=1")
                let seen = try #require(other.requests.first).headers
                #expect(seen["Authorization"] == nil && seen["Cookie"] == nil && seen["X-Api-Key"] == nil)
                #expect(seen["User-Agent"] == "t" && seen["Accept"] == "x/y")
                _ = try await bench.send("PUT", "/in", body: .bytes([1]), headers: headers).end()
                #expect(other.requests.last?.headers["Authorization"] == nil && other.requests.last?.bodyLength == 1)
                // The same holds with the range of a resumed download.
                let point = ResumePoint(offset: 700, validator: Validator(etag: "\"a\""), total: 700_000)
                let part = try PartFile.open(bench.file)
                try part.truncate(to: 700)
                part.unlock()
                #expect(try await bench.download(resume: point).outcome.error == nil)
                #expect(other.requests.last?.range == "bytes=700-" && other.requests.last?.ifRange == "\"a\"")
                #expect(try Self.content.firstDifference(fromFileAt: bench.file) == nil)
            }
        }
    }

    @Test func aLoopOfRedirectsEnds() async throws {
        try await Bench.with { bench async throws in
            bench.server.script("/x", [], afterwards: .redirect(to: "/x"))
            let error = try await bench.download().outcome.error
            #expect(error?.code == .tooManyRedirects && error?.isTransient == false)
            #expect(bench.server.requests.count == 11)
            bench.server.script("/x", [], afterwards: .redirect(to: "y/../x"))
            #expect(try await bench.download { $0.maxRedirects = 0 }.outcome.error?.code == .tooManyRedirects)
        }
    }

    @Test func aDigestDecidesWhereMirrorsDiffer() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", ServedFile(Self.content, etag: "\"other\""))
            let part = try PartFile.open(bench.file)
            let bytes = Self.content.bytes(in: 0..<5000)
            #expect(pwrite(part.descriptor, bytes, bytes.count, 0) == 5000)
            part.unlock()
            let point = ResumePoint(offset: 5000, validator: nil, total: 700_000, isVerifiedByDigest: true)
            #expect(try await bench.download(resume: point).outcome.received == 695_000)
            #expect(try Self.content.firstDifference(fromFileAt: bench.file) == nil)
            #expect(bench.server.requests.first?.ifRange == nil)
        }
    }
}
