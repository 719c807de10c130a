internal import Foundation
internal import Glibc
internal import Synchronization

/// A thread that waits for readable descriptors, and calls a handler for each. It closes all of them at its end.
final class DatagramLoop: Sendable {
    private let stopping: Mutex<Int32>

    /// - Parameter handle: A closure that receives the index of a readable descriptor.
    init(_ descriptors: [Int32], handle: @escaping @Sendable (Int) -> Void) throws {
        let pipe = try PipeEnds()
        stopping = Mutex(pipe.writing)
        Thread.detachNewThread {
            var polled = (descriptors + [pipe.reading]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            while true {
                let count = poll(&polled, nfds_t(polled.count), -1)
                if count < 0, errno == EINTR { continue }
                guard count > 0, polled[descriptors.count].revents == 0 else { break }
                for index in descriptors.indices where polled[index].revents != 0 { handle(index) }
            }
            for descriptor in descriptors + [pipe.reading] { close(descriptor) }
        }
    }

    deinit { stop() }

    /// Stops the thread; a second call has no effect.
    func stop() {
        stopping.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }
}
