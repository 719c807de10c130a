import CTransferOpenSSL
public import TransferCore

/// Encryption that also detects changes of the encrypted bytes: AES-256 in Galois/Counter Mode (NIST SP 800-38D).
public enum AuthenticatedEncryption {
    /// The length of a key in bytes.
    public static let keyLength = 32
    private static let nonceLength = 12
    private static let tagLength = 16

    /// Encrypts bytes under a random nonce, which precedes the result; the authentication tag ends it.
    ///
    /// - Parameters:
    ///   - key: ``keyLength`` bytes.
    ///   - context: Bytes that are authenticated and not encrypted; decryption needs the same.
    /// - Throws: `TransferError` with `.internalFault` where OpenSSL cannot do it.
    public static func seal(
        _ plain: [UInt8], key: [UInt8], context: [UInt8] = []
    ) throws(TransferError) -> [UInt8] {
        OpenSSLLibrary.clearErrors()
        var nonce = [UInt8](repeating: 0, count: nonceLength)
        var sealed = [UInt8](repeating: 0, count: plain.count)
        var tag = [UInt8](repeating: 0, count: tagLength)
        var count: Int32 = 0
        guard key.count == keyLength, let cipher = EVP_CIPHER_CTX_new() else { throw failure }
        defer { EVP_CIPHER_CTX_free(cipher) }
        guard RAND_bytes(&nonce, Int32(nonceLength)) == 1,
            EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), nil, key, nonce) == 1,
            EVP_EncryptUpdate(cipher, nil, &count, context, Int32(context.count)) == 1,
            EVP_EncryptUpdate(cipher, &sealed, &count, plain, Int32(plain.count)) == 1,
            EVP_EncryptFinal_ex(cipher, nil, &count) == 1,
            EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), &tag) == 1
        else { throw failure }
        return nonce + sealed + tag
    }

    /// Decrypts the bytes of ``seal(_:key:context:)``.
    ///
    /// - Returns: `nil` for changed bytes, another key or another context.
    public static func open(_ sealed: [UInt8], key: [UInt8], context: [UInt8] = []) -> [UInt8]? {
        OpenSSLLibrary.clearErrors()
        guard key.count == keyLength, sealed.count >= nonceLength + tagLength, let cipher = EVP_CIPHER_CTX_new() else {
            return nil
        }
        defer { EVP_CIPHER_CTX_free(cipher) }
        let (nonce, inner) = (Array(sealed.prefix(nonceLength)), Array(sealed[nonceLength..<sealed.count - tagLength]))
        var tag = Array(sealed.suffix(tagLength))
        var plain = [UInt8](repeating: 0, count: inner.count)
        var count: Int32 = 0
        guard EVP_DecryptInit_ex(cipher, EVP_aes_256_gcm(), nil, key, nonce) == 1,
            EVP_DecryptUpdate(cipher, nil, &count, context, Int32(context.count)) == 1,
            EVP_DecryptUpdate(cipher, &plain, &count, inner, Int32(inner.count)) == 1,
            EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), &tag) == 1,
            EVP_DecryptFinal_ex(cipher, nil, &count) == 1
        else { return nil }
        return plain
    }

    private static var failure: TransferError {
        OpenSSLText.failure(.internalFault, "OpenSSL cannot encrypt with AES-256-GCM")
    }
}
