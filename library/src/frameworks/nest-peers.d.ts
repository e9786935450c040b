// What of Nest's packages the door `posthorn/nest` uses. They are optional peers: a host that opens the door has the real
// types, and the lane `hosts` compiles the door against those.
declare module "@nestjs/common" {
  export interface Type<T = unknown> {
    new (...args: never[]): T;
  }
  export interface DynamicModule {
    module: Type;
    imports?: readonly unknown[];
    providers?: readonly unknown[];
    controllers?: readonly Type[];
    exports?: readonly unknown[];
    global?: boolean;
  }
  export function Controller(path: string): (target: Function) => void;
  export function Post(
    path: string,
  ): (target: object, key: string, descriptor: TypedPropertyDescriptor<unknown>) => void;
  export function Req(): (target: object, key: string, index: number) => void;
  export function Res(): (target: object, key: string, index: number) => void;
  export function Inject(
    token: unknown,
  ): (target: object, key: string | symbol | undefined, index: number) => void;
  export function Module(metadata: object): (target: Function) => void;
  export function SetMetadata(
    key: string,
    value: unknown,
  ): (target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<unknown>) => void;
}

declare module "@nestjs/core" {
  export interface InstanceWrapper {
    readonly instance: unknown;
    readonly metatype: unknown;
    readonly name: string;
    readonly isTransient: boolean;
    readonly host?: { readonly name: string } | undefined;
    isDependencyTreeStatic(): boolean;
  }
  export class DiscoveryService {
    getProviders(): InstanceWrapper[];
    getControllers(): InstanceWrapper[];
  }
  export const DiscoveryModule: unknown;
  export class MetadataScanner {
    getAllMethodNames(prototype: object | null): string[];
  }
  export class Reflector {
    get(key: string, target: Function): unknown;
  }
  export class HttpAdapterHost {
    readonly httpAdapter: { getType(): string; getInstance(): unknown };
  }
}
