import Glibc
import TransferCore
import TransferEngine

/// Lines that are printed later or not at all: on disk, as there may be millions of them.
final class LineSpool {
    private let file: UnsafeMutablePointer<FILE>
    private(set) var count = 0

    /// - Throws: `TransferError` where there is no room for temporary files.
    init() throws(TransferError) {
        guard let file = tmpfile() else { throw .file("make", "a temporary file", errno) }
        self.file = file
    }

    deinit { fclose(file) }

    func add(_ line: String) throws(TransferError) {
        guard fputs(line + "\n", file) >= 0 else { throw .file("write", "a temporary file", errno) }
        count += 1
    }

    /// Calls the body with each line, in their order.
    func read(_ body: (String) -> Void) throws(TransferError) {
        guard fflush(file) == 0 else { throw .file("write", "a temporary file", errno) }
        rewind(file)
        var (line, size): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        defer { free(line) }
        while case let length = getline(&line, &size, file), length > 0, let line {
            body(String(decoding: UnsafeRawBufferPointer(start: line, count: length - 1), as: UTF8.self))
        }
    }
}
