import Glibc
import Synchronization
import Testing
import TransferCore

@testable import TransferEventLoop

/// Two connected sockets, which are closed with the last reference.
final class DescriptorPair: @unchecked Sendable {
    private(set) var reading: Int32
    private(set) var writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        closeReading()
        closeWriting()
    }

    func closeReading() {
        if reading >= 0 { close(reading) }
        reading = -1
    }

    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    func send(_ text: String) { _ = write(writing, text, text.utf8.count) }

    func receive() -> String {
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(reading, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}

@Suite(.timeLimit(.minutes(1))) struct DescriptorTests {
    @Test func readabilityIsReported() async throws {
        try await withLoop { loop in
            let pair = try DescriptorPair()
            let text: String = await withCheckedContinuation { continuation in
                loop.execute {
                    loop.register(pair.reading, for: .readable) { events in
                        loop.unregister(pair.reading)
                        continuation.resume(returning: events == .readable ? pair.receive() : "\(events)")
                    }
                    loop.execute { pair.send("hello") }
                }
            }
            #expect(text == "hello")
        }
    }

    @Test func readabilityIsReportedUntilTheDataIsRead() async throws {
        try await withLoop { loop in
            let pair = try DescriptorPair()
            pair.send("x")
            let calls: Int = await withCheckedContinuation { continuation in
                let calls = OnLoop(0)
                loop.execute {
                    loop.register(pair.reading, for: .readable) { _ in
                        calls.value += 1
                        guard calls.value == 3 else { return }
                        loop.unregister(pair.reading)
                        continuation.resume(returning: calls.value)
                    }
                }
            }
            #expect(calls == 3)
        }
    }

    @Test func registeringAgainChangesTheInterest() async throws {
        try await withLoop { loop in
            let pair = try DescriptorPair()
            pair.send("x")
            let seen: [ReadyEvents] = await withCheckedContinuation { continuation in
                loop.execute {
                    let seen = OnLoop<[ReadyEvents]>([])
                    loop.register(pair.reading, for: .readable) { events in
                        seen.value.append(events)
                        loop.register(pair.reading, for: .writable) { events in
                            seen.value.append(events)
                            loop.unregister(pair.reading)
                            continuation.resume(returning: seen.value)
                        }
                    }
                }
            }
            #expect(seen == [.readable, .writable])
        }
    }

    @Test func aHangUpIsReportedWithoutInterest() async throws {
        try await withLoop { loop in
            let pair = try DescriptorPair()
            let events: ReadyEvents = await withCheckedContinuation { continuation in
                loop.execute {
                    loop.register(pair.reading, for: []) { events in
                        loop.unregister(pair.reading)
                        continuation.resume(returning: events)
                    }
                    pair.closeWriting()
                }
            }
            #expect(events.contains(.failed))
        }
    }

    @Test func unregisteringTwiceIsNoError() async throws {
        try await withLoop { loop in
            let pair = try DescriptorPair()
            let isQuiet = await loop.call {
                loop.unregister(pair.reading)
                loop.register(pair.reading, for: .readable) { _ in }
                loop.unregister(pair.reading)
                loop.unregister(pair.reading)
                return true
            }
            #expect(isQuiet)
        }
    }

    /// One wake-up of epoll has events of both pairs. The first handler closes the second's descriptor, and a new pair
    /// gets its number. The queued event of the old pair must not reach the new handler.
    @Test func eventsOfAClosedDescriptorDoNotReachItsSuccessor() async throws {
        try await withLoop { loop in
            let outcome: String = await withCheckedContinuation { continuation in
                loop.execute {
                    do {
                        let pairs = OnLoop([try DescriptorPair(), try DescriptorPair()])
                        let log = OnLoop<[String]>([])
                        let handler: (Int) -> (ReadyEvents) -> Void = { index in
                            { _ in
                                log.value.append("old")
                                let (mine, other) = (pairs.value[index], pairs.value[1 - index])
                                loop.unregister(mine.reading)
                                let number = other.reading
                                loop.unregister(number)
                                other.closeReading()
                                guard let next = try? DescriptorPair() else { return }
                                pairs.value.append(next)
                                let reused = next.reading == number
                                loop.register(next.reading, for: .readable) { _ in log.value.append("new") }
                                // This runs after the current round of events and one more.
                                loop.execute {
                                    loop.execute { continuation.resume(returning: "\(log.value) reused: \(reused)") }
                                }
                            }
                        }
                        for index in 0...1 {
                            pairs.value[index].send("x")
                            loop.register(pairs.value[index].reading, for: .readable, handler: handler(index))
                        }
                    } catch {
                        continuation.resume(returning: "\(error)")
                    }
                }
            }
            #expect(outcome.hasPrefix(#"["old"]"#), "\(outcome)")
        }
    }

    @Test func aNumberClosedBehindTheLoopsBackCanBeRegisteredAgain() async throws {
        try await withLoop { loop in
            let text: String = await withCheckedContinuation { continuation in
                loop.execute {
                    guard let old = try? DescriptorPair(), let next = try? DescriptorPair() else {
                        return continuation.resume(returning: "no descriptors")
                    }
                    let number = old.reading
                    loop.register(number, for: .readable) { _ in }
                    // Closes `number` and gives it to another file, as close(2) and open(2) by a library would.
                    dup2(next.reading, number)
                    next.send("new")
                    loop.register(number, for: .readable) { _ in
                        loop.unregister(number)
                        continuation.resume(returning: next.receive())
                        withExtendedLifetime(old) {}
                    }
                }
            }
            #expect(text == "new")
        }
    }

    @Test func manyDescriptorsAreServedFairly() async throws {
        try await withLoop { loop in
            let pairs = try (0..<100).map { _ in try DescriptorPair() }
            let counts: [Int] = await withCheckedContinuation { continuation in
                loop.execute {
                    let counts = OnLoop([Int](repeating: 0, count: pairs.count))
                    for (index, pair) in pairs.enumerated() {
                        pair.send("x")
                        loop.register(pair.reading, for: .readable) { _ in
                            counts.value[index] += 1
                            guard counts.value.reduce(0, +) == 1000 else { return }
                            for pair in pairs { loop.unregister(pair.reading) }
                            continuation.resume(returning: counts.value)
                        }
                    }
                }
            }
            #expect(counts.min() ?? 0 >= 9 && counts.max() ?? 0 <= 11, "\(counts)")
        }
    }
}
