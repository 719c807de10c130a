public import Foundation
import Glibc
import TransferCore
import TransferEngine

extension MultipartFormData {
    /// Returns the whole form in memory; `writeEncodedData(to:)` suits large forms.
    ///
    /// - Throws: `AFError.multipartEncodingFailed` for errors that occurred when parts were added, and for a file that
    ///   cannot be read or has changed its size. The same error reports a stream that fails, was read before, or is
    ///   shorter than declared. A boundary that RFC 2046 does not allow throws a `TransferError`.
    public func encode() throws -> Data {
        let form = try segments()
        var encoded = Data()
        // Memory is not reserved for a declared length before its bytes exist.
        encoded.reserveCapacity(Int(min(form.length, 32 << 20)))
        try Self.naming { try form.forEachChunk { encoded.append(contentsOf: $0) } }
        return encoded
    }

    /// Writes the whole form into a new file, without holding it in memory. The file is removed if the form cannot be
    /// completed.
    ///
    /// - Parameter fileURL: The place of the file, which must not exist yet; its folder must exist.
    /// - Throws: The same errors as `encode()`, and `AFError.multipartEncodingFailed` when the file exists or cannot be
    ///   created or written.
    public func writeEncodedData(to fileURL: URL) throws {
        let form = try segments()
        guard fileURL.isFileURL else { throw Self.failed(.outputStreamURLInvalid(url: fileURL)) }
        guard !fileManager.fileExists(atPath: fileURL.path) else {
            throw Self.failed(.outputStreamFileAlreadyExists(at: fileURL))
        }
        try Self.write(form, to: fileURL, mode: 0o666) {}
    }

    /// - Parameters:
    ///   - mode: The mode of the file, before the process's umask is applied.
    ///   - checkpoint: A closure called before each piece; an error that it throws ends the writing.
    static func write(
        _ form: FormSegments, to fileURL: URL, mode: mode_t, checkpoint: () throws -> Void
    ) throws {
        let descriptor = open(fileURL.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else {
            throw failed(
                errno == EEXIST
                    ? .outputStreamFileAlreadyExists(at: fileURL) : .outputStreamCreationFailed(for: fileURL))
        }
        do {
            defer { close(descriptor) }
            try naming {
                try form.forEachChunk { chunk in
                    try checkpoint()
                    do { try writeAll(chunk, descriptor, fileURL.path) } catch {
                        throw failed(.outputStreamWriteFailed(error: error))
                    }
                }
            }
        } catch {
            unlink(fileURL.path)
            throw error
        }
    }

    private static func writeAll(
        _ bytes: UnsafeRawBufferPointer, _ descriptor: Int32, _ path: String
    ) throws(TransferError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if errno != EINTR {
                throw .file("write", path, errno)
            }
        }
    }

    private static func naming(_ body: () throws -> Void) throws {
        do { try body() } catch let failure as BodyReadFailure {
            throw failed(.inputStreamReadFailed(error: failure.underlying))
        }
    }

    private static func failed(_ reason: AFError.MultipartEncodingFailureReason) -> AFError {
        .multipartEncodingFailed(reason: reason)
    }
}
