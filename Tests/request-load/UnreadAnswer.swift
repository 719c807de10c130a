import Dispatch
import Foundation
import Synchronization
import TransferNetworking

/// A large answer that is not read. A second request reads the same answer, which measures a time that would suffice
/// for the first. Afterwards the first answer is read and compared.
struct UnreadAnswer {
    let url: String
    /// The file that the server sends.
    let file: String
    private let session = Session()

    init(url: String, file: String) {
        self.url = url
        self.file = file
    }

    func run(_ kind: String) async throws -> Report {
        let protocolName = try await takeAll()
        let before = try OwnMemory.anonymous()
        let comparison = try Comparison(file)
        let held =
            switch kind {
            case "input-stream": try await inputStream(comparison)
            case "sequence": try await sequence(comparison)
            case "queue": try await suspendedQueue(comparison)
            case "suspended": try await suspendedRequest(comparison)
            case "undecided": try await undecidedHook(comparison)
            default: throw LoadError("no kind \(kind)")
            }
        return Report(before: before, after: held, isRight: comparison.isEqual, protocolName: protocolName)
    }

    /// Reads the whole answer, and keeps nothing.
    ///
    /// - Returns: The name of the protocol that was used.
    @discardableResult
    private func takeAll() async throws -> String? {
        let queue = DispatchQueue(label: "reader")
        let completion = await withCheckedContinuation { continuation in
            session.streamRequest(url).responseStream(on: queue) { stream in
                if case .complete(let completion) = stream.event { continuation.resume(returning: completion) }
            }
        }
        if let error = completion.error { throw error }
        return completion.metrics?.transactionMetrics.last?.networkProtocolName
    }

    /// Waits until the first bytes of `request` have come.
    private func untilBytesCame(_ request: Request) async {
        while request.downloadProgress.completedUnitCount == 0 { await Task.yield() }
    }

    private func inputStream(_ comparison: Comparison) async throws -> Int64 {
        let request = session.streamRequest(url)
        guard let stream = request.asInputStream() else { throw LoadError("no stream") }
        await untilBytesCame(request)
        try await takeAll()
        let held = try OwnMemory.anonymous()
        stream.open()
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else { break }
            comparison.add(Data(buffer[..<count]))
        }
        return held
    }

    private func sequence(_ comparison: Comparison) async throws -> Int64 {
        var iterator = session.streamRequest(url).streamTask().streamingData().makeAsyncIterator()
        if let first = await iterator.next(), case .stream(.success(let data)) = first.event { comparison.add(data) }
        try await takeAll()
        let held = try OwnMemory.anonymous()
        while let next = await iterator.next() {
            if case .stream(.success(let data)) = next.event { comparison.add(data) }
        }
        return held
    }

    private func suspendedQueue(_ comparison: Comparison) async throws -> Int64 {
        let queue = DispatchQueue(label: "suspended")
        queue.suspend()
        let (ends, end) = AsyncStream<Void>.makeStream()
        let request = session.streamRequest(url).responseStream(on: queue) { stream in
            switch stream.event {
            case .stream(.success(let data)): comparison.add(data)
            case .complete: end.finish()
            }
        }
        await untilBytesCame(request)
        try await takeAll()
        let held = try OwnMemory.anonymous()
        queue.resume()
        for await _ in ends {}
        return held
    }

    private func suspendedRequest(_ comparison: Comparison) async throws -> Int64 {
        let (heads, head) = AsyncStream<Void>.makeStream()
        let request = session.request(url)
        // The pause comes before the body, so the number of received bytes does not depend on timing.
        request.onHTTPResponse(on: DispatchQueue(label: "hook")) { [weak request] _, decided in
            request?.suspend()
            decided(.allow)
            head.finish()
        }
        let task = request.serializingData()
        for await _ in heads {}
        try await takeAll()
        let held = try OwnMemory.anonymous()
        request.resume()
        comparison.add(try await task.value)
        return held
    }

    private func undecidedHook(_ comparison: Comparison) async throws -> Int64 {
        let (decisions, decision) = AsyncStream<@Sendable (Request.ResponseDisposition) -> Void>.makeStream()
        let request = session.request(url).onHTTPResponse(on: DispatchQueue(label: "hook")) { _, decided in
            decision.yield(decided)
        }
        let task = request.serializingData()
        var iterator = decisions.makeAsyncIterator()
        let decide = await iterator.next()
        try await takeAll()
        let held = try OwnMemory.anonymous()
        decide?(.allow)
        comparison.add(try await task.value)
        return held
    }
}

/// A comparison of received bytes with a file, piece by piece.
final class Comparison: Sendable {
    private struct State {
        var offset: UInt64 = 0
        var isEqual = true
    }

    private let file: FileHandle
    private let length: UInt64
    private let state = Mutex(State())

    init(_ path: String) throws {
        guard let file = FileHandle(forReadingAtPath: path) else { throw LoadError("\(path) cannot be read") }
        self.file = file
        length = try file.seekToEnd()
    }

    /// Whether the whole file came, and no other bytes.
    var isEqual: Bool { state.withLock { $0.isEqual && $0.offset == length } }

    func add(_ data: Data) {
        state.withLock { state in
            try? file.seek(toOffset: state.offset)
            state.isEqual = state.isEqual && (try? file.read(upToCount: data.count)) == data
            state.offset += UInt64(data.count)
        }
    }
}
