public import Foundation
import FoundationNetworking

// Requests that send bodies of their own.
extension Session {
    // MARK: Bytes

    /// Sends bytes.
    @preconcurrency
    public func upload(
        _ data: Data, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            data, with: RequestParts(url: convertible, method: method, headers: headers, modify: requestModifier),
            interceptor: interceptor, fileManager: fileManager)
    }

    /// Sends bytes.
    public func upload(
        _ data: Data, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest { upload(.ready(.data(data)), convertible, interceptor, fileManager) }

    // MARK: Files

    /// Sends a file, straight from the disk.
    @preconcurrency
    public func upload(
        _ fileURL: URL, to convertible: any URLConvertible, method: HTTPMethod = .post, headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil, fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            fileURL, with: RequestParts(url: convertible, method: method, headers: headers, modify: requestModifier),
            interceptor: interceptor, fileManager: fileManager)
    }

    /// Sends a file, straight from the disk.
    public func upload(
        _ fileURL: URL, with convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest { upload(.ready(.file(fileURL, shouldRemove: false)), convertible, interceptor, fileManager) }

    // MARK: Streams

    /// Sends what a stream gives, in bounded memory.
    ///
    /// A stream can be read once: an attempt after the first, or a redirect that wants the body again, fails. Where
    /// that matters, give a closure that makes streams. The length is announced when the headers have a
    /// `Content-Length`; else the body is sent in chunks.
    @preconcurrency
    public func upload(
        _ stream: InputStream, to convertible: any URLConvertible, method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            stream, with: RequestParts(url: convertible, method: method, headers: headers, modify: requestModifier),
            interceptor: interceptor, fileManager: fileManager)
    }

    /// Sends what a stream gives, in bounded memory; it can be read once.
    public func upload(
        _ stream: InputStream, with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil, fileManager: FileManager = .default
    ) -> UploadRequest { upload(.ready(.stream(stream)), convertible, interceptor, fileManager) }

    /// Sends what streams give, in bounded memory: a fresh one for each time the body has to be sent.
    ///
    /// - Parameter makeStream: Called on a worker, for the first attempt, for each that follows, and for redirects that
    ///   repeat the body; every stream has to give the same bytes.
    @preconcurrency
    public func upload(
        streamedBy makeStream: @escaping @Sendable () throws -> InputStream, to convertible: any URLConvertible,
        method: HTTPMethod = .post, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            .streams(makeStream),
            RequestParts(url: convertible, method: method, headers: headers, modify: requestModifier), interceptor,
            fileManager)
    }

    // MARK: Forms

    /// Sends a form (RFC 7578).
    ///
    /// - Parameters:
    ///   - multipartFormData: Adds the form's parts; called on a worker.
    ///   - encodingMemoryThreshold: Bytes; a longer form is sent from the disk.
    @preconcurrency
    public func upload(
        multipartFormData: @escaping @Sendable (MultipartFormData) -> Void, to url: any URLConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            multipartFormData: multipartFormData,
            with: RequestParts(url: url, method: method, headers: headers, modify: requestModifier),
            usingThreshold: encodingMemoryThreshold, interceptor: interceptor, fileManager: fileManager)
    }

    /// Sends a form (RFC 7578).
    @preconcurrency
    public func upload(
        multipartFormData: @escaping @Sendable (MultipartFormData) -> Void, with request: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil, fileManager: FileManager = .default
    ) -> UploadRequest {
        form(
            MultipartFormData(fileManager: fileManager), multipartFormData, request, encodingMemoryThreshold,
            interceptor)
    }

    /// Sends a form (RFC 7578).
    @preconcurrency
    public func upload(
        multipartFormData: MultipartFormData, to url: any URLConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post, headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil,
        fileManager: FileManager = .default, requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            multipartFormData: multipartFormData,
            with: RequestParts(url: url, method: method, headers: headers, modify: requestModifier),
            usingThreshold: encodingMemoryThreshold, interceptor: interceptor, fileManager: fileManager)
    }

    /// Sends a form (RFC 7578).
    public func upload(
        multipartFormData: MultipartFormData, with request: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil, fileManager: FileManager = .default
    ) -> UploadRequest {
        form(multipartFormData, nil, request, encodingMemoryThreshold, interceptor)
    }

    private func form(
        _ form: MultipartFormData, _ fill: (@Sendable (MultipartFormData) -> Void)?,
        _ request: any URLRequestConvertible, _ threshold: UInt64, _ interceptor: (any RequestInterceptor)?
    ) -> UploadRequest {
        let upload = MultipartUpload(
            encodingMemoryThreshold: threshold, request: request, multipartFormData: form,
            temporaryFolder: URL(fileURLWithPath: settings.temporaryFolder))
        return self.upload(.form(upload, fill: fill), request, interceptor, form.fileManager)
    }

    private func upload(
        _ source: UploadParts.Source, _ request: any URLRequestConvertible, _ interceptor: (any RequestInterceptor)?,
        _ fileManager: FileManager
    ) -> UploadRequest {
        UploadRequest(
            UploadParts(request: request, source: source), session: self, interceptor: interceptor,
            fileManager: fileManager)
    }
}
