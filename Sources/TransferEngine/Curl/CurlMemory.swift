import CTransferCurl
import Glibc
import TransferCrypto

/// The memory of libcurl: the system's, but each thread keeps some large blocks for the next transfer.
///
/// libcurl allocates its buffers for each transfer and frees them after it. The system's allocator then tidies up its
/// whole heap, gives the pages back to the kernel and takes them again. That is a tenth of a small transfer's work.
enum CurlMemory {
    /// Initialises libcurl (curl_global_init_mem(3)). Where the program has done so already, its memory functions stay.
    static func initialise() -> CURLcode {
        // OpenSSL is initialised here before libcurl does it in its own way.
        guard OpenSSLLibrary.isReady else { return CURLE_FAILED_INIT }
        return curl_global_init_mem(
            Int(CURL_GLOBAL_SSL | CURL_GLOBAL_WIN32),
            { size in size < CurlMemory.smallest ? malloc(size) : KeptBlocks.ofThisThread?.take(size) ?? malloc(size) },
            { block in
                guard let block else { return }
                if transfer_block_size(block) >= CurlMemory.smallest, let kept = KeptBlocks.ofThisThread,
                    kept.keep(block)
                {
                    return
                }
                free(block)
            }, { realloc($0, $1) },
            { text in text.flatMap { strdup($0) } }, { calloc($0, $1) })
    }

    /// The smallest block that is kept, in bytes: libcurl's smallest buffer.
    fileprivate static let smallest = 16 << 10
}

/// The blocks that a thread's transfers no longer use.
private final class KeptBlocks {
    private static let most = 8
    private static let mostBytes = 2 << 20

    private var blocks: [(start: UnsafeMutableRawPointer, size: Int)] = []
    private var bytes = 0

    deinit { for block in blocks { free(block.start) } }

    func take(_ size: Int) -> UnsafeMutableRawPointer? {
        // A much larger block is meant for another purpose.
        guard let index = blocks.lastIndex(where: { $0.size >= size && $0.size / 2 <= size }) else { return nil }
        let block = blocks.remove(at: index)
        bytes -= block.size
        return block.start
    }

    /// Keeps a block for the next transfer.
    ///
    /// - Returns: Whether the block was kept.
    func keep(_ block: UnsafeMutableRawPointer) -> Bool {
        let size = transfer_block_size(block)
        guard blocks.count < Self.most, bytes + size <= Self.mostBytes else { return false }
        blocks.append((block, size))
        bytes += size
        return true
    }

    /// The kept blocks of this thread; `nil` when the system has no room for another thread-specific value.
    static var ofThisThread: KeptBlocks? {
        guard let key else { return nil }
        if let kept = pthread_getspecific(key) {
            return Unmanaged<KeptBlocks>.fromOpaque(kept).takeUnretainedValue()
        }
        let kept = KeptBlocks()
        let retained = Unmanaged.passRetained(kept)
        guard pthread_setspecific(key, retained.toOpaque()) == 0 else {
            retained.release()
            return nil
        }
        return kept
    }

    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        let code = pthread_key_create(&key) { kept in
            if let kept { Unmanaged<KeptBlocks>.fromOpaque(kept).release() }
        }
        return code == 0 ? key : nil
    }()
}
