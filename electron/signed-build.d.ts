// Written by .ci/build.mjs: true only in a build that was made to be signed.
declare const __SIGNED_BUILD__: boolean;
