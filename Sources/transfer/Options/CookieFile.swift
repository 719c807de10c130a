import Glibc
import TransferCore

/// A file of cookies in Netscape's format, as options and job files name it.
enum CookieFile {
    /// Returns why the file cannot be read, with advice; `nil` where it can.
    static func fault(_ path: String) -> String? {
        guard access(path, R_OK) != 0 else { return nil }
        let reason = String(cString: strerror(errno)).lowercasedFirst
        return
            "cannot read the file of cookies \(path): \(reason); export the browser's cookies to it in Netscape's form (cookies.txt), or leave it out"
    }
}
