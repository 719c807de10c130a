public import Foundation
import Glibc
import TransferCore
import TransferEngine

extension MultipartFormData {
    /// The whole form in memory; for a big one, `writeEncodedData(to:)`.
    ///
    /// - Throws: `AFError.multipartEncodingFailed`: what went wrong when parts were added, a file that can't be read
    ///   or changed its size, a stream that fails, was read already or has another length than promised. A boundary
    ///   that RFC 2046 doesn't allow is a `TransferError`.
    public func encode() throws -> Data {
        let form = try segments()
        var encoded = Data()
        // A promised length isn't worth memory before its bytes are there.
        encoded.reserveCapacity(Int(min(form.length, 32 << 20)))
        try Self.naming { try form.forEachChunk { encoded.append(contentsOf: $0) } }
        return encoded
    }

    /// Writes the whole form into a new file, without holding it in memory. What was written of a form that can't be
    /// completed is removed.
    ///
    /// - Parameter fileURL: Nothing may be there yet; the folder must be.
    /// - Throws: As `encode()`; `AFError.multipartEncodingFailed` also when the file exists, can't be made or written.
    public func writeEncodedData(to fileURL: URL) throws {
        let form = try segments()
        guard fileURL.isFileURL else { throw Self.failed(.outputStreamURLInvalid(url: fileURL)) }
        guard !fileManager.fileExists(atPath: fileURL.path) else {
            throw Self.failed(.outputStreamFileAlreadyExists(at: fileURL))
        }
        try Self.write(form, to: fileURL, mode: 0o666) {}
    }

    /// - Parameters:
    ///   - mode: Of the file, before the process's umask.
    ///   - checkpoint: Called before each piece; what it throws ends the writing.
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
