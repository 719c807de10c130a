import Foundation
import Synchronization
import TransferCore
import TransferEngine

/// A body out of an `InputStream`: read once, and once more for each fresh stream that can be had.
final class InputStreamBody: BodyStream {
    let length: Int64?
    private let freshStream: (@Sendable () -> InputStream?)?
    private let state: Mutex<State>

    private struct State {
        var first: GivenStream?
        var last: GivenStream?
    }

    /// - Parameters:
    ///   - stream: Not open yet; from now on nobody else's.
    ///   - length: How many bytes it gives, when that is known. More or fewer are an error.
    ///   - freshStream: Asked when the body is sent again (a retry, a redirect that keeps the method). Each answer
    ///     must be a stream of its own.
    init(_ stream: InputStream, length: Int64? = nil, freshStream: (@Sendable () -> InputStream?)? = nil) {
        self.length = length.map { max(0, $0) }
        self.freshStream = freshStream
        state = Mutex(State(first: GivenStream(stream: stream)))
    }

    /// Blocks as long as opening the stream does.
    ///
    /// - Throws: `bodyStreamConsumed` at the second call, unless there is a fresh stream; `bodyStreamFailed`.
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

    /// A provider that gives the stream that was read already would make an empty body of it.
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

/// `@unchecked`: the stream was given away by its owner, and is used only by the reader that took it.
struct GivenStream: @unchecked Sendable {
    let stream: InputStream
}
