internal import Foundation
internal import Synchronization

/// The output of a process on one of its streams so far, as bytes and as lines that can be awaited.
final class LineLog: Sendable {
    private struct State {
        var bytes = Data()
        var lines: [String] = []
        var partial = Data()
        var ended = false
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
    }

    private let state = Mutex(State())

    var bytes: Data { state.withLock { $0.bytes } }

    func append(_ chunk: Data) {
        wake { state in
            state.bytes.append(chunk)
            var rest = chunk[...]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                state.lines.append(String(decoding: state.partial + rest[..<end], as: UTF8.self))
                state.partial = Data()
                rest = rest[(end + 1)...]
            }
            state.partial.append(rest)
        }
    }

    func end() {
        wake { state in
            guard !state.ended else { return }
            state.ended = true
            if !state.partial.isEmpty { state.lines.append(String(decoding: state.partial, as: UTF8.self)) }
            state.partial = Data()
        }
    }

    /// Returns the line with this index once it exists; `nil` if the stream ended before or the task was cancelled.
    func line(_ index: Int) async -> String? {
        while !Task.isCancelled {
            let (line, ended) = state.withLock { state in
                (index < state.lines.count ? state.lines[index] : nil, state.ended)
            }
            if line != nil || ended { return line }
            await change(after: index)
        }
        return nil
    }

    private func change(after index: Int) async {
        let ticket = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now = state.withLock { state in
                    // The state is checked again: the line, the end or the cancellation may have come meanwhile.
                    if state.ended || index < state.lines.count || Task.isCancelled { return true }
                    state.waiters[ticket] = continuation
                    return false
                }
                if now { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: ticket) }?.resume()
        }
    }

    private func wake(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// The lines of a stream from its beginning; ends with the stream.
public struct OutputLines: AsyncSequence, Sendable {
    let log: LineLog

    public func makeAsyncIterator() -> Iterator { Iterator(log: log) }

    public struct Iterator: AsyncIteratorProtocol {
        let log: LineLog
        var index = 0

        public mutating func next() async -> String? {
            let line = await log.line(index)
            index += 1
            return line
        }
    }
}
