import ArgumentParser
import Glibc
import TransferCore

/// The command `transfer serve`: a separate program that replaces this process, with its own options and help.
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the queue to this machine: a page, an HTTP API, aria2's JSON-RPC and metrics.",
        discussion: "transfer serve --help lists the options.")

    @Argument(parsing: .captureForPassthrough)
    var words: [String] = []

    func run() throws { try ServerProgram.become(words) }
}

/// The program that serves: it is beside the command, or in the folder for internal programs.
enum ServerProgram {
    static let name = "transfer-server"

    /// Replaces this process by that program.
    ///
    /// - Throws: `Failure` where the program is missing.
    static func become(_ words: [String]) throws -> Never {
        let places = places()
        for path in places where access(path, X_OK) == 0 {
            // The program handles signals itself, and would inherit a signal mask.
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_UNBLOCK, &all, nil)
            var arguments = ([path] + words).map { strdup($0) }
            arguments.append(nil)
            execv(path, arguments)
            throw Failure(.stateUnusable, "cannot start \(path): \(String(cString: strerror(errno)).lowercasedFirst)")
        }
        throw Failure(
            .stateUnusable,
            "transfer serve needs the program \(name), which is at none of \(places.joined(separator: ", ")): "
                + "the package and `make install` bring it along, and `make build` builds it")
    }

    /// Returns the places beside the command, and below its prefix.
    private static func places() -> [String] {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let prefix = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? ""
        return ["\(folder)/\(name)", "\(prefix)/libexec/transfer/\(name)"]
    }
}
