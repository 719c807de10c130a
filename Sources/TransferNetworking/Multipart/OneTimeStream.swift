import Foundation
import Synchronization

/// The stream of a part, which can be read once.
final class OneTimeStream: Sendable {
    private let given: Mutex<GivenStream?>

    init(_ stream: InputStream) { given = Mutex(GivenStream(stream: stream)) }

    var isTaken: Bool { given.withLock { $0 == nil } }

    func take(length: UInt64) throws(BodyReadFailure) -> InputStreamSource {
        let taken = given.withLock { given in
            defer { given = nil }
            return given
        }
        guard let taken else { throw BodyReadFailure(.bodyStreamConsumed) }
        return try InputStreamSource(taken.stream, length: length, mayHaveMore: true)
    }
}
