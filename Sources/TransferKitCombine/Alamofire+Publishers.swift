public import TransferNetworking

// The publishers under the name of Alamofire's module (`Alamofire.DataResponsePublisher`).
extension Alamofire {
    /// A publisher of the response of a `DataRequest`.
    public typealias DataResponsePublisher<Value: Sendable> = TransferKitCombine.DataResponsePublisher<Value>
    /// A publisher of the values of a `DataStreamRequest`.
    public typealias DataStreamPublisher<Value: Sendable> = TransferKitCombine.DataStreamPublisher<Value>
    /// A publisher of the response of a `DownloadRequest`.
    public typealias DownloadResponsePublisher<Value: Sendable> = TransferKitCombine.DownloadResponsePublisher<Value>
}
