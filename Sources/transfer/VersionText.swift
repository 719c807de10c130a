import TransferCore
import TransferCrypto
import TransferEngine

/// What `transfer --version` prints: also the libraries in use, and what lapses with old ones.
enum VersionText {
    static var full: String {
        let lapses = CurlLibrary.missingFeatures
        return "transfer \(TransferVersion.current)\n\(CurlLibrary.version)\n\(CryptoVersion.openSSL)"
            + (lapses.isEmpty ? "" : "\nnot with this libcurl: \(lapses.joined(separator: ", "))")
    }
}
