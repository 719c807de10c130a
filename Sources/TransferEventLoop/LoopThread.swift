import CTransferLinux
import Glibc
import TransferCore

/// Threads for loops and workers. No signal is delivered to them, so that a program's main thread receives all signals.
/// A write to a closed connection is an error instead of SIGPIPE.
enum LoopThread {
    private final class Start {
        let name: String
        let body: () -> Void
        init(name: String, body: @escaping () -> Void) {
            self.name = name
            self.body = body
        }
    }

    static func start(name: String, _ body: @escaping @Sendable () -> Void) throws -> pthread_t {
        var everySignal = sigset_t()
        var before = sigset_t()
        sigfillset(&everySignal)
        // A thread inherits the signal mask of its creator.
        pthread_sigmask(SIG_SETMASK, &everySignal, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                // Linux keeps 15 bytes of a thread's name, and refuses longer ones.
                transfer_name_thread(String(start.name.prefix(15)))
                start.body()
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            start.release()
            throw TransferError(.internalFault, "the system has no threads left", cause: .os(errno: code))
        }
        pthread_detach(thread)
        return thread
    }

    /// The loop to which the current thread belongs.
    static var current: ObjectIdentifier? {
        get {
            guard let key, let value = pthread_getspecific(key) else { return nil }
            return Unmanaged<Box>.fromOpaque(value).takeUnretainedValue().loop
        }
        set {
            guard let key else { return }
            if let old = pthread_getspecific(key) { Unmanaged<Box>.fromOpaque(old).release() }
            pthread_setspecific(key, newValue.map { Unmanaged.passRetained(Box($0)).toOpaque() })
        }
    }

    private final class Box {
        let loop: ObjectIdentifier
        init(_ loop: ObjectIdentifier) { self.loop = loop }
    }

    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()
}
