import CTransferOpenSSL
import Glibc
import TransferCore

/// Texts and values of OpenSSL as Swift types.
enum OpenSSLText {
    /// Returns the first error of this thread's queue, which names the cause, and empties the queue.
    static func takeError() -> String {
        let code = ERR_get_error()
        OpenSSLLibrary.clearErrors()
        return ERR_reason_error_string(code).map { String(cString: $0) } ?? "unknown error"
    }

    static func failure(_ code: TransferError.Code, _ message: String) -> TransferError {
        let text = takeError()
        return TransferError(code, "\(message): \(text)", cause: .openSSL(text))
    }

    /// Returns the text that `print` writes to a BIO.
    static func printed(_ print: (OpaquePointer) -> Void) -> String {
        guard let bio = transfer_bio_memory() else { return "" }
        defer { BIO_free(bio) }
        print(bio)
        var start: UnsafeMutablePointer<CChar>?
        let count = transfer_bio_contents(bio, &start)
        guard count > 0, let start else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Returns a name in the form of RFC 2253, in UTF-8.
    static func name(_ name: OpaquePointer?) -> String {
        guard let name else { return "" }
        return printed { transfer_name_print($0, name) }
    }

    /// Returns the seconds since 1970; `nil` for an unreadable time.
    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
        return Int64(timegm(&parts))
    }

    /// Returns a number in upper-case hexadecimal digits.
    static func hexadecimal(_ number: UnsafePointer<ASN1_INTEGER>?) -> String {
        guard let number, let big = ASN1_INTEGER_to_BN(number, nil) else { return "" }
        defer { BN_free(big) }
        guard let text = BN_bn2hex(big) else { return "" }
        defer { CRYPTO_free(text, #file, #line) }
        return String(cString: text)
    }

    static func base64(_ bytes: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
        return String(decoding: text.prefix(Int(max(0, count))), as: UTF8.self)
    }

    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        // The call fails only without memory; zeros are then no certificate's digest.
        _ = EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil)
        return digest
    }

    /// Returns the output of one of the `i2d_` functions. It is called without a buffer to learn the length, then with
    /// one.
    static func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        let count = encode(nil)
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            var place = buffer.baseAddress
            initialized = Int(max(0, encode(&place)))
        }
    }

    /// Calls `body` with a BIO that reads `bytes`.
    static func reading<Value, Failure: Error>(
        _ bytes: [UInt8], _ body: (OpaquePointer) throws(Failure) -> Value
    ) throws(Failure) -> Value? {
        OpenSSLLibrary.clearErrors()
        // A BIO over foreign memory does not copy it and must not outlive the bytes, so it gets its own memory.
        guard let bio = transfer_bio_memory() else { return nil }
        defer { BIO_free(bio) }
        guard bytes.isEmpty || BIO_write(bio, bytes, Int32(clamping: bytes.count)) == bytes.count else { return nil }
        return try body(bio)
    }

    /// Returns the parts of a PEM text, with the names in their first lines.
    static func pemBlocks(_ bytes: [UInt8]) throws(TransferError) -> [(name: String, der: [UInt8])] {
        let blocks = try reading(bytes) { bio throws(TransferError) -> [(name: String, der: [UInt8])] in
            var blocks: [(name: String, der: [UInt8])] = []
            while true {
                var (name, header): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?) = (nil, nil)
                var (data, count): (UnsafeMutablePointer<UInt8>?, Int) = (nil, 0)
                guard PEM_read_bio(bio, &name, &header, &data, &count) == 1 else { break }
                if let name {
                    blocks.append((String(cString: name), Array(UnsafeBufferPointer(start: data, count: count))))
                }
                CRYPTO_free(name, #file, #line)
                CRYPTO_free(header, #file, #line)
                // The bytes may be a private key.
                CRYPTO_clear_free(data, count, #file, #line)
            }
            guard isEndOfPEM() else { throw failure(.invalidRequest, "part \(blocks.count + 1) is damaged") }
            OpenSSLLibrary.clearErrors()
            return blocks
        }
        return blocks ?? []
    }

    /// Returns whether the queue's last error is that of reaching the end of a PEM file.
    static func isEndOfPEM() -> Bool {
        let code = ERR_peek_last_error()
        return code == 0
            || (transfer_error_library(code) == ERR_LIB_PEM && transfer_error_reason(code) == PEM_R_NO_START_LINE)
    }
}
