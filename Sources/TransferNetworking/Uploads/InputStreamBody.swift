import Foundation
import Synchronization
import TransferCore
import TransferEngine

/// A body from an `InputStream`, which is read once, and once more for each new stream that is available.
final class InputStreamBody: BodyStream {
    let length: Int64?
    private let freshStream: (@Sendable () -> InputStream?)?
    private let state: Mutex<State>

    private struct State {
        var first: GivenStream?
        var last: GivenStream?
    }

    /// - Parameters:
    ///   - stream: A stream that is not open, and that no other code uses from now on.
    ///   - length: The number of bytes in the stream, if known. More or fewer are an error.
    ///   - freshStream: A closure called when the body is sent again (a retry, a redirect that keeps the method). Each
    ///     call must return a new stream.
    init(_ stream: InputStream, length: Int64? = nil, freshStream: (@Sendable () -> InputStream?)? = nil) {
        self.length = length.map { max(0, $0) }
        self.freshStream = freshStream
        state = Mutex(State(first: GivenStream(stream: stream)))
    }

    /// Opens the stream, and blocks until it is open.
    ///
    /// - Throws: `bodyStreamConsumed` at the second call, unless a new stream is available; `bodyStreamFailed`.
    func open() throws(TransferError) -> any BodyReader {
        let first = state.withLock { state in
            let first = state.first
            state.first = nil
            if first != nil { state.last = first }
            return first
        }
        guard let given = first ?? anotherStream() else { throw .bodyStreamConsumed }
        let length = length.map { UInt64($0) }
        do { return ExclusiveReader(try InputStreamSource(given.stream, length: length)) } catch {
            throw error.transferError
        }
    }

    /// Returns a new stream; `nil` for the one that was read before, as it would yield an empty body.
    private func anotherStream() -> GivenStream? {
        guard let fresh = freshStream?() else { return nil }
        let given = GivenStream(stream: fresh)
        return state.withLock { state in
            guard state.last?.stream !== given.stream else { return nil }
            state.last = given
            return given
        }
    }
}

/// A stream that its owner has given up, and that only its reader uses, hence `@unchecked`.
struct GivenStream: @unchecked Sendable {
    let stream: InputStream
}
