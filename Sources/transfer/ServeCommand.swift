import ArgumentParser
import Glibc
import TransferCore

/// `transfer serve`: a program of its own, which the command becomes. Its options and its help are that program's.
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the queue to this machine: a page, an HTTP API, aria2's JSON-RPC and metrics.",
        discussion: "transfer serve --help tells its options.")

    @Argument(parsing: .captureForPassthrough)
    var words: [String] = []

    func run() throws { try ServerProgram.become(words) }
}

/// The program that serves: it stands beside the command, or where programs of programs are installed.
enum ServerProgram {
    static let name = "transfer-server"

    /// Goes on as that program.
    ///
    /// - Throws: `Failure` where it isn't there.
    static func become(_ words: [String]) throws -> Never {
        let places = places()
        for path in places where access(path, X_OK) == 0 {
            // The program has its own way with signals, and a mask would go over to it.
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_UNBLOCK, &all, nil)
            var arguments = ([path] + words).map { strdup($0) }
            arguments.append(nil)
            execv(path, arguments)
            throw Failure(.stateUnusable, "can't start \(path): \(String(cString: strerror(errno)).lowercasedFirst)")
        }
        throw Failure(
            .stateUnusable,
            "transfer serve needs the program \(name), which is at none of \(places.joined(separator: ", ")): "
                + "the package and `make install` bring it along, and `make build` builds it")
    }

    /// Beside the command, and beneath its prefix.
    private static func places() -> [String] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let prefix = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? ""
        return ["\(folder)/\(name)", "\(prefix)/libexec/transfer/\(name)"]
    }
}
