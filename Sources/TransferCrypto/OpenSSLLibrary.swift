import CTransferOpenSSL

/// OpenSSL itself, initialised once per process, before anything else of it is used.
public enum OpenSSLLibrary {
    /// Whether it could be initialised.
    ///
    /// OpenSSL isn't cleaned up at exit(3) (OPENSSL_init_crypto(3), `OPENSSL_INIT_NO_ATEXIT`): threads that close
    /// connections go on meanwhile, and would use what has been freed. Where the program has used it before, its choice
    /// stays.
    public static let isReady = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Empties the thread's queue of errors, before what is done next leaves its own there.
    static func clearErrors() {
        _ = isReady
        ERR_clear_error()
    }
}
