import Glibc
import TransferCore

/// The reader of files with certificates and keys.
enum CredentialFile {
    /// The maximum length in bytes, far above any bundle of authorities. It prevents a wrong path (a disk image) from
    /// filling the memory.
    static let limit = 32 << 20

    static func read(_ path: String) throws(TransferError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("read", path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("read", path) }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw TransferError(.fileAccess, "\(path) is a folder", cause: .os(errno: EISDIR))
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 {
                guard errno == EINTR else { throw failure("read", path) }
                continue
            }
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
            guard bytes.count <= limit else {
                throw TransferError(.invalidRequest, "\(path) is too large to hold certificates or keys")
            }
        }
    }

    /// Returns the files of a folder with one of the extensions, sorted by name.
    static func paths(inFolder folder: String, extensions: Set<String>) throws(TransferError) -> [String] {
        guard let stream = opendir(folder) else { throw failure("open the folder", folder) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let dot = name.lastIndex(of: "."), extensions.contains(name[dot...].dropFirst().lowercased())
            else { continue }
            names.append(name)
        }
        return names.sorted().map { "\(folder)/\($0)" }
    }

    private static func failure(_ verb: String, _ path: String) -> TransferError {
        let number = errno
        return TransferError(
            number == ENOENT ? .fileMissing : .fileAccess,
            "cannot \(verb) \(path): \(String(cString: strerror(number)))",
            cause: .os(errno: number))
    }

    static func isPEM(_ bytes: [UInt8]) -> Bool { contains(bytes, "-----BEGIN ") }

    static func contains(_ bytes: [UInt8], _ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            bytes.withUnsafeBufferPointer { bytes in
                guard bytes.count >= text.count else { return false }
                return (0...bytes.count - text.count).contains { start in
                    bytes[start] == text[0] && bytes[start..<start + text.count].elementsEqual(text)
                }
            }
        }
    }
}
