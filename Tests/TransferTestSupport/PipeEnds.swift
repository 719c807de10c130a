internal import Foundation
internal import Glibc

/// A pipe whose ends no other child inherits.
struct PipeEnds {
    let reading: Int32
    let writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard GNUCalls.pipe2(&ends, O_CLOEXEC) == 0 else { throw TestSupportError.system("pipe2", errno) }
        reading = ends[0]
        writing = ends[1]
    }

    func closeBoth() {
        close(reading)
        close(writing)
    }

    /// Reads until the end and closes.
    static func drain(_ descriptor: Int32, into log: LineLog) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            log.append(Data(buffer[..<count]))
        }
        close(descriptor)
        log.end()
    }

    /// - Returns: Whether all bytes were written.
    @discardableResult
    static func writeAll(_ data: Data, to descriptor: Int32) -> Bool {
        data.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let count = write(descriptor, bytes.baseAddress! + offset, bytes.count - offset)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }
    }
}
