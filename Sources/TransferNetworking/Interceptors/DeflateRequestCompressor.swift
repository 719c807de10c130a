import CTransferZlib
public import Foundation
public import FoundationNetworking
import TransferCore

/// An interceptor that compresses request bodies with the `deflate` content coding (RFC 9110 §8.4.1.2).
///
/// The compressor is useful for large text bodies to servers known to accept them. Only `httpBody` is compressed, never
/// a file or a stream of an upload.
public struct DeflateRequestCompressor: Sendable, RequestInterceptor {
    /// The treatment of a request that has a `Content-Encoding` already.
    public enum DuplicateHeaderBehavior: Sendable {
        /// Fails the request with a `DuplicateHeaderError`.
        case error
        /// Compresses, and replaces the field's value by `deflate`.
        case replace
        /// Leaves the request as it is.
        case skip
    }

    /// The error for a request that had a `Content-Encoding` already.
    public struct DuplicateHeaderError: Error, Hashable, CustomStringConvertible {
        /// Creates the error.
        public init() {}
        public var description: String { "the request has a Content-Encoding already" }
    }

    /// The treatment of a request that has a `Content-Encoding` already.
    public let duplicateHeaderBehavior: DuplicateHeaderBehavior
    /// The decision about a body before it is compressed; `false` sends the body unchanged.
    @preconcurrency
    public let shouldCompressBodyData: @Sendable (_ bodyData: Data) -> Bool

    /// Creates a compressor.
    ///
    /// - Parameters:
    ///   - duplicateHeaderBehavior: The treatment of a request that has a `Content-Encoding` already.
    ///   - shouldCompressBodyData: The decision about each body; `false` sends it unchanged.
    @preconcurrency
    public init(
        duplicateHeaderBehavior: DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) {
        self.duplicateHeaderBehavior = duplicateHeaderBehavior
        self.shouldCompressBodyData = shouldCompressBodyData
    }

    /// Compresses the request's body. The completion gets a `DuplicateHeaderError` where the behavior asks for it.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) { completion(Result { try compressed(urlRequest) }) }

    private func compressed(_ urlRequest: URLRequest) throws -> URLRequest {
        guard let body = urlRequest.httpBody, shouldCompressBodyData(body) else { return urlRequest }
        if urlRequest.value(forHTTPHeaderField: "Content-Encoding") != nil {
            switch duplicateHeaderBehavior {
            case .error: throw DuplicateHeaderError()
            case .replace: break
            case .skip: return urlRequest
            }
        }
        var compressed = urlRequest
        compressed.httpBody = try Deflate.zlibStream(body)
        compressed.setValue("deflate", forHTTPHeaderField: "Content-Encoding")
        // The field has the length before compression; the engine sends the right one.
        compressed.setValue(nil, forHTTPHeaderField: "Content-Length")
        return compressed
    }
}

extension RequestInterceptor where Self == DeflateRequestCompressor {
    /// A compressor that compresses every body and refuses requests with a `Content-Encoding`.
    public static var deflateCompressor: DeflateRequestCompressor { DeflateRequestCompressor() }

    /// Returns a compressor; the parameters are those of its initialiser.
    @preconcurrency
    public static func deflateCompressor(
        duplicateHeaderBehavior: DeflateRequestCompressor.DuplicateHeaderBehavior = .error,
        shouldCompressBodyData: @escaping @Sendable (_ bodyData: Data) -> Bool = { _ in true }
    ) -> DeflateRequestCompressor {
        DeflateRequestCompressor(
            duplicateHeaderBehavior: duplicateHeaderBehavior, shouldCompressBodyData: shouldCompressBodyData)
    }
}

/// The `deflate` coding, which is in fact a zlib stream (RFC 1950).
enum Deflate {
    /// The compression level that the second byte of the header declares.
    private static let level: Int32 = 5

    static func zlibStream(_ data: Data) throws(TransferError) -> Data {
        var output = Data([0x78, 0x5E])
        try appendRawDeflate(data, to: &output)
        withUnsafeBytes(of: checksum(data).bigEndian) { output.append(contentsOf: $0) }
        return output
    }

    private static func appendRawDeflate(_ data: Data, to output: inout Data) throws(TransferError) {
        // zlib's state points back at this structure, which therefore must not move.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        try check(transfer_deflate_init_raw(stream, level), is: Z_OK)
        defer { deflateEnd(stream) }

        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        // zlib's counters have 32 bits.
        let parts = stride(from: 0, to: max(data.count, 1), by: 1 << 30).map { start in
            data.dropFirst(start).prefix(1 << 30)
        }
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            let code = part.withUnsafeBytes { input -> Int32 in
                // zlib only reads the input, but the pointer's type is mutable.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
                stream.pointee.avail_in = UInt32(input.count)
                var code = Z_OK
                repeat {
                    let written = piece.withUnsafeMutableBufferPointer { room -> Int in
                        stream.pointee.next_out = room.baseAddress
                        stream.pointee.avail_out = UInt32(room.count)
                        code = deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                        return room.count - Int(stream.pointee.avail_out)
                    }
                    output.append(contentsOf: piece[..<written])
                } while code == Z_OK && stream.pointee.avail_out == 0
                return code
            }
            try check(code, is: isLast ? Z_STREAM_END : Z_OK)
        }
    }

    private static func checksum(_ data: Data) -> UInt32 {
        data.withUnsafeBytes { bytes in
            UInt32(adler32_z(1, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count))
        }
    }

    private static func check(_ code: Int32, is expected: Int32) throws(TransferError) {
        guard code == expected else {
            throw TransferError(.internalFault, "cannot compress the body: zlib's code \(code)")
        }
    }
}
