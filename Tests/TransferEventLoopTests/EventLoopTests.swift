import Glibc
import Synchronization
import Testing
import TransferCore

@testable import TransferEventLoop

/// An actor that lives on a loop.
actor PinnedCounter: LoopActor {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private(set) var count = 0

    init(_ loop: EventLoop) { self.loop = loop }

    func increment() -> Bool {
        count += 1
        return loop.isOnLoop
    }

    func incrementAfterLeaving() async -> Bool {
        await Task.yield()
        count += 1
        return loop.isOnLoop
    }
}

/// Runs `body` with a loop that is stopped at the end.
func withLoop<Result>(_ name: String = "test", _ body: (EventLoop) async throws -> Result) async throws -> Result {
    let loop = try EventLoop(name: name)
    defer { loop.stop() }
    return try await body(loop)
}

extension EventLoop {
    /// Runs a closure on the loop, and returns its result.
    func call<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in execute { continuation.resume(returning: work()) } }
    }
}

/// A value behind a lock.
final class Locked<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>
    init(_ value: Value) { mutex = Mutex(value) }
    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        mutex.withLock { value in body(&value) }
    }
}

/// The state of one loop's thread, which its closures capture.
final class OnLoop<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}

@Suite(.timeLimit(.minutes(1))) struct EventLoopTests {
    @Test func actorsRunOnTheirLoopAndNowhereElse() async throws {
        try await withLoop { loop in
            let counter = PinnedCounter(loop)
            let onLoop = await withTaskGroup(of: Bool.self) { group in
                for index in 0..<500 {
                    group.addTask { index % 2 == 0 ? await counter.increment() : await counter.incrementAfterLeaving() }
                }
                return await group.reduce(true) { $0 && $1 }
            }
            #expect(onLoop)
            #expect(await counter.count == 500)
            #expect(!loop.isOnLoop)
        }
    }

    /// The loop is not woken for work that it enqueues itself.
    @Test func workFromTheLoopItselfRunsBeforeItWaits() async throws {
        try await withLoop { loop in
            let last = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
                @Sendable func next(_ number: Int) {
                    if number == 100 { return continuation.resume(returning: number) }
                    loop.execute { next(number + 1) }
                }
                loop.execute { next(0) }
            }
            #expect(last == 100)
            // Other threads still wake it.
            for _ in 0..<100 { #expect(await loop.call { 1 } == 1) }
        }
    }

    @Test func aTimerFiresAgainAndAgain() async throws {
        try await withLoop { loop in
            let fired = await withCheckedContinuation { continuation in
                loop.execute {
                    let state = OnLoop<(count: Int, timer: LoopTimer?)>((0, nil))
                    state.value.timer = loop.makeTimer {
                        state.value.count += 1
                        guard state.value.count < 5 else { return continuation.resume(returning: state.value.count) }
                        state.value.timer?.schedule(at: .now + .milliseconds(2))
                    }
                    state.value.timer?.schedule(at: .now + .milliseconds(2))
                }
            }
            #expect(fired == 5)
        }
    }

    @Test func callbacksOnTheThreadEnterTheActorAgain() async throws {
        try await withLoop { loop in
            let counter = PinnedCounter(loop)
            let entered = await loop.call { counter.onLoop { $0.increment() } }
            #expect(entered)
            #expect(await counter.count == 1)
        }
    }

    @Test func twoLoopsAreTwoThreads() async throws {
        try await withLoop { one in
            try await withLoop { other in
                let first = await one.call { (pthread_self(), one.isOnLoop, other.isOnLoop) }
                let second = await other.call { (pthread_self(), other.isOnLoop, one.isOnLoop) }
                #expect(first.0 != second.0)
                #expect(first.1 && second.1 && !first.2 && !second.2)
            }
        }
    }

    @Test func workRunsInTheOrderOfTheCalls() async throws {
        try await withLoop { loop in
            let seen = OnLoop<[Int]>([])
            for number in 0..<2000 { loop.execute { seen.value.append(number) } }
            #expect(await loop.call { seen.value } == Array(0..<2000))
        }
    }

    @Test func workSubmittedByWorkRunsToo() async throws {
        try await withLoop { loop in
            let depth: Int = await withCheckedContinuation { continuation in
                @Sendable func next(_ depth: Int) {
                    if depth == 1000 { return continuation.resume(returning: depth) }
                    loop.execute { next(depth + 1) }
                }
                next(0)
            }
            #expect(depth == 1000)
        }
    }

    @Test func aTimerFiresThoughALaterOneWasSetBefore() async throws {
        try await withLoop { loop in
            let isScheduled: Bool = await withCheckedContinuation { continuation in
                loop.execute {
                    let late = OnLoop(loop.makeTimer {})
                    late.value.schedule(at: .now + .seconds(3600))
                    loop.execute {
                        // The thread sleeps until the later timer by now.
                        loop.makeTimer { continuation.resume(returning: late.value.isScheduled) }.schedule(
                            at: .now + .milliseconds(5))
                    }
                }
            }
            #expect(isScheduled)
        }
    }

    @Test func timersNeverFireEarly() async throws {
        try await withLoop { loop in
            let (deadline, fired): (MonotonicTime, MonotonicTime) = await withCheckedContinuation { continuation in
                loop.execute {
                    let deadline = MonotonicTime.now + .milliseconds(25)
                    loop.makeTimer { continuation.resume(returning: (deadline, .now)) }.schedule(at: deadline)
                }
            }
            #expect(fired >= deadline)
        }
    }

    @Test func anEarlierDeadlineReplacesALaterOneAndFiresOnce() async throws {
        try await withLoop { loop in
            let fired = OnLoop(0)
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                loop.execute {
                    let timer = loop.makeTimer { fired.value += 1 }
                    timer.schedule(at: .now + .seconds(3600))
                    timer.schedule(at: .now + .milliseconds(5))
                    loop.makeTimer { continuation.resume() }.schedule(at: .now + .milliseconds(40))
                }
            }
            #expect(await loop.call { fired.value } == 1)
        }
    }

    @Test func aCancelledTimerStaysSilent() async throws {
        try await withLoop { loop in
            let fired = OnLoop<[String]>([])
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                loop.execute {
                    // The timer is made first, so that it fires first even if all are due at once on a busy machine.
                    let others = OnLoop<[LoopTimer]>([])
                    let canceller = loop.makeTimer {
                        fired.value.append("canceller")
                        others.value[0].cancel()
                        loop.remove(others.value[1])
                    }
                    others.value = ["cancelled", "removed"].map { name in loop.makeTimer { fired.value.append(name) } }
                    for timer in others.value { timer.schedule(at: .now + .milliseconds(10)) }
                    canceller.schedule(at: .now + .milliseconds(5))
                    let areScheduled = others.value.map(\.isScheduled)
                    #expect(areScheduled == [true, true])
                    loop.makeTimer { continuation.resume() }.schedule(at: .now + .milliseconds(30))
                }
            }
            #expect(await loop.call { fired.value } == ["canceller"])
        }
    }

    @Test func aTimerMayScheduleItselfAgain() async throws {
        try await withLoop { loop in
            let rounds: Int = await withCheckedContinuation { continuation in
                loop.execute {
                    let timer = OnLoop<LoopTimer?>(nil)
                    let rounds = OnLoop(0)
                    timer.value = loop.makeTimer {
                        rounds.value += 1
                        if rounds.value == 100 {
                            continuation.resume(returning: rounds.value)
                        } else {
                            timer.value?.schedule(at: .now)
                        }
                    }
                    timer.value?.schedule(at: .now)
                }
            }
            #expect(rounds == 100)
        }
    }

    @Test func aDeadlineInThePastFiresAtOnceAndOneBeyondTheClockNever() async throws {
        try await withLoop { loop in
            let fired = OnLoop<[String]>([])
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                loop.execute {
                    loop.makeTimer { fired.value.append("never") }.schedule(at: MonotonicTime(nanoseconds: .max))
                    loop.makeTimer {
                        fired.value.append("past")
                        continuation.resume()
                    }.schedule(at: MonotonicTime(nanoseconds: 0))
                }
            }
            #expect(await loop.call { fired.value } == ["past"])
        }
    }

    @Test func queuedWorkRunsBeforeTheStop() async throws {
        let seen = Locked(0)
        let loop = try EventLoop(name: "test")
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            for _ in 0..<100 { loop.execute { seen.withLock { $0 += 1 } } }
            loop.execute { continuation.resume() }
            loop.stop()
        }
        #expect(seen.withLock { $0 } == 100)
    }

    @Test func aStoppedLoopReleasesEverything() async throws {
        // The thread keeps the loop alive while it runs. Afterwards no reference may remain.
        weak var weakLoop: EventLoop?
        weak var weakToken: Token?
        try await Self.useLoop { loop, token in
            weakLoop = loop
            weakToken = token
        }
        // The thread ends at a time of its own. The test waits by yielding to the scheduler, not by a fixed pause.
        let limit = MonotonicTime.now + .seconds(2)
        while weakLoop != nil || weakToken != nil, .now < limit { await Task.yield() }
        #expect(weakLoop == nil && weakToken == nil)
    }

    private final class Token: Sendable {}

    /// The work is in a function of its own, so that no variable outlives it.
    private static func useLoop(_ look: (EventLoop, Token) -> Void) async throws {
        let loop = try EventLoop(name: "test")
        let token = Token()
        look(loop, token)
        _ = await loop.call { true }
        loop.execute { loop.makeTimer { _ = token }.schedule(at: .now + .seconds(3600)) }
        let pair = try DescriptorPair()
        loop.execute { loop.register(pair.reading, for: .readable) { _ in _ = (token, pair) } }
        loop.stop()
    }

    @Test func theThreadHasTheLoopsNameAndTakesNoSignals() async throws {
        try await withLoop("a-name-that-is-too-long") { loop in
            let (name, isBlocked) = await loop.call { () -> (String, Bool) in
                var buffer = [UInt8](repeating: 0, count: 32)
                let descriptor = open("/proc/thread-self/comm", O_RDONLY)
                defer { close(descriptor) }
                let count = read(descriptor, &buffer, buffer.count)
                var mask = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &mask)
                let blocked = [SIGINT, SIGTERM, SIGPIPE, SIGHUP].allSatisfy { sigismember(&mask, $0) == 1 }
                return (String(decoding: buffer.prefix(max(0, count - 1)), as: UTF8.self), blocked)
            }
            #expect(name == "a-name-that-is-")
            #expect(isBlocked)
        }
    }
}
