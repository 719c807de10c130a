import CTransferOpenSSL

/// The OpenSSL library, initialized once per process before any other use.
public enum OpenSSLLibrary {
    /// Whether the initialization succeeded.
    ///
    /// OpenSSL is not cleaned up at exit(3) (OPENSSL_init_crypto(3), `OPENSSL_INIT_NO_ATEXIT`). Threads that close
    /// connections still run then, and would use freed data. If the program has used OpenSSL before, its own choice
    /// stays.
    public static let isReady = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Empties the thread's error queue before a call that may add its own errors.
    static func clearErrors() {
        _ = isReady
        ERR_clear_error()
    }
}
